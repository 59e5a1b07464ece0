import { raw } from 'hono/html';
import * as icons from './icon-shapes.ts';
import { reader } from './reader.ts';

const svgs = { ...icons };
export type IconName = keyof typeof svgs;

/** The shapes of the icons, risks and levels that a page shows: they are its end. */
// biome-ignore lint/a11y/noSvgWithoutTitle: it is never shown
export const Shapes = () => <svg hidden>{raw([...reader().shapes.values()].join(''))}</svg>;

/** An icon beside a word: it says nothing that the word does not. */
export const Icon = ({ name, small = false }: { name: IconName; small?: boolean }) => (
  <Shape
    id={name}
    viewBox="0 0 24 24"
    content={svgs[name].replace(/^[\s\S]*?<svg[^>]*>|<\/svg>\s*$/g, '').replaceAll(/\s*\n\s*/g, '')}
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
  reader().shapes.set(id, `<symbol id="${id}" viewBox="${viewBox}">${content}</symbol>`);
  return (
    <svg class={look} aria-hidden="true">
      <use href={`#${id}`} />
    </svg>
  );
};
