import { raw } from 'hono/html';
import { type Child, createContext, useContext } from 'hono/jsx';
import bookOpen from 'lucide-static/dist/esm/icons/book-open.mjs';
import carFront from 'lucide-static/dist/esm/icons/car-front.mjs';
import check from 'lucide-static/dist/esm/icons/check.mjs';
import chevronLeft from 'lucide-static/dist/esm/icons/chevron-left.mjs';
import chevronRight from 'lucide-static/dist/esm/icons/chevron-right.mjs';
import circle from 'lucide-static/dist/esm/icons/circle.mjs';
import circleAlert from 'lucide-static/dist/esm/icons/circle-alert.mjs';
import circleCheck from 'lucide-static/dist/esm/icons/circle-check.mjs';
import circleDot from 'lucide-static/dist/esm/icons/circle-dot.mjs';
import circleSlash from 'lucide-static/dist/esm/icons/circle-slash.mjs';
import clock from 'lucide-static/dist/esm/icons/clock.mjs';
import copy from 'lucide-static/dist/esm/icons/copy.mjs';
import download from 'lucide-static/dist/esm/icons/download.mjs';
import ellipsis from 'lucide-static/dist/esm/icons/ellipsis.mjs';
import externalLink from 'lucide-static/dist/esm/icons/external-link.mjs';
import fileText from 'lucide-static/dist/esm/icons/file-text.mjs';
import funnel from 'lucide-static/dist/esm/icons/funnel.mjs';
import idCard from 'lucide-static/dist/esm/icons/id-card.mjs';
import keyRound from 'lucide-static/dist/esm/icons/key-round.mjs';
import layoutDashboard from 'lucide-static/dist/esm/icons/layout-dashboard.mjs';
import loader from 'lucide-static/dist/esm/icons/loader.mjs';
import logOut from 'lucide-static/dist/esm/icons/log-out.mjs';
import mail from 'lucide-static/dist/esm/icons/mail.mjs';
import mapPin from 'lucide-static/dist/esm/icons/map-pin.mjs';
import menu from 'lucide-static/dist/esm/icons/menu.mjs';
import octagonX from 'lucide-static/dist/esm/icons/octagon-x.mjs';
import pause from 'lucide-static/dist/esm/icons/pause.mjs';
import pencil from 'lucide-static/dist/esm/icons/pencil.mjs';
import play from 'lucide-static/dist/esm/icons/play.mjs';
import plug from 'lucide-static/dist/esm/icons/plug.mjs';
import plus from 'lucide-static/dist/esm/icons/plus.mjs';
import refresh from 'lucide-static/dist/esm/icons/refresh-cw.mjs';
import rotateCcw from 'lucide-static/dist/esm/icons/rotate-ccw.mjs';
import route from 'lucide-static/dist/esm/icons/route.mjs';
import search from 'lucide-static/dist/esm/icons/search.mjs';
import send from 'lucide-static/dist/esm/icons/send.mjs';
import settings from 'lucide-static/dist/esm/icons/settings.mjs';
import shieldAlert from 'lucide-static/dist/esm/icons/shield-alert.mjs';
import shieldCheck from 'lucide-static/dist/esm/icons/shield-check.mjs';
import slidersHorizontal from 'lucide-static/dist/esm/icons/sliders-horizontal.mjs';
import timer from 'lucide-static/dist/esm/icons/timer.mjs';
import trash from 'lucide-static/dist/esm/icons/trash.mjs';
import triangleAlert from 'lucide-static/dist/esm/icons/triangle-alert.mjs';
import truck from 'lucide-static/dist/esm/icons/truck.mjs';
import users from 'lucide-static/dist/esm/icons/users.mjs';
import video from 'lucide-static/dist/esm/icons/video.mjs';
import webhook from 'lucide-static/dist/esm/icons/webhook.mjs';
import x from 'lucide-static/dist/esm/icons/x.mjs';

/** Lucide's icons, as far as pages use them. */
const icons = {
  'book-open': bookOpen,
  'car-front': carFront,
  check,
  'chevron-left': chevronLeft,
  'chevron-right': chevronRight,
  circle,
  'circle-alert': circleAlert,
  'circle-check': circleCheck,
  'circle-dot': circleDot,
  'circle-slash': circleSlash,
  clock,
  copy,
  download,
  ellipsis,
  'external-link': externalLink,
  'file-text': fileText,
  funnel,
  'id-card': idCard,
  'key-round': keyRound,
  'layout-dashboard': layoutDashboard,
  loader,
  'log-out': logOut,
  mail,
  'map-pin': mapPin,
  menu,
  'octagon-x': octagonX,
  pause,
  pencil,
  play,
  plug,
  plus,
  'refresh-cw': refresh,
  'rotate-ccw': rotateCcw,
  route,
  search,
  send,
  settings,
  'shield-alert': shieldAlert,
  'shield-check': shieldCheck,
  'sliders-horizontal': slidersHorizontal,
  timer,
  trash,
  'triangle-alert': triangleAlert,
  truck,
  users,
  video,
  webhook,
  x,
};

export type IconName = keyof typeof icons;

/** The shapes that a page uses: each is in the page once, at its end, however often it is shown. */
const PageShapes = createContext(new Map<string, string>());

/** Holds a page's content, so that icons, risks and levels can be used in it, and adds their shapes. */
export const WithShapes = ({ children }: { children: Child }) => (
  <PageShapes.Provider value={new Map()}>
    {children}
    <Shapes />
  </PageShapes.Provider>
);

// biome-ignore lint/a11y/noSvgWithoutTitle: it is never shown
const Shapes = () => <svg hidden>{raw([...useContext(PageShapes).values()].join(''))}</svg>;

/** An icon beside a word: it says nothing that the word does not. */
export const Icon = ({ name, small = false }: { name: IconName; small?: boolean }) => (
  <Shape
    id={name}
    viewBox="0 0 24 24"
    content={icons[name].replace(/^[\s\S]*?<svg[^>]*>|<\/svg>\s*$/g, '').replaceAll(/\s*\n\s*/g, '')}
    look={small ? 'icon icon-sm' : 'icon'}
  />
);

/** A risk from 1 to 5 as rising bars. */
export const RiskBars = ({ risk }: { risk: number }) => (
  <Shape
    id={`risk-${risk}`}
    viewBox="0 0 20 14"
    content={bars(5, risk, (i) => `x="${4 * i}" y="${9 - 2 * i}" width="3" height="${5 + 2 * i}" rx="0.75"`)}
    look="glyph"
  />
);

/** The levels of an accident, from 1 to 3, as segments. */
export const LevelBars = ({ level }: { level: number }) => (
  <Shape
    id={`level-${level}`}
    viewBox="0 0 32 14"
    content={bars(3, level, (i) => `x="${11 * i}" y="5" width="10" height="4" rx="2"`)}
    look="glyph glyph-level"
  />
);

const bars = (count: number, full: number, place: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => `<rect ${place(i)}${i < full ? '' : ' opacity="0.22"'}/>`).join('');

const Shape = (props: { id: string; viewBox: string; content: string; look: string }) => {
  const { id, viewBox, content, look } = props;
  useContext(PageShapes).set(id, `<symbol id="${id}" viewBox="${viewBox}">${content}</symbol>`);
  return (
    <svg class={look} aria-hidden="true">
      <use href={`#${id}`} />
    </svg>
  );
};
