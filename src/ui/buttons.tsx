import { type Child, useContext } from 'hono/jsx';
import { may, type Role } from '../core/platform/roles.ts';
import { Breakable } from './breakable.tsx';
import type { IconName } from './icon-names.ts';
import { PageReader } from './reader.ts';

export const roleNames: { [role in Role]: string } = {
  admin: 'Admin',
  member: 'Member',
  viewer: 'Viewer',
};

export const aRole = (role: Role): string => `${role === 'admin' ? 'an' : 'a'} ${role}`;

/** Shows its children only to people who may follow this link, or send a form there. */
export const Allowed = (props: { to: string; method?: 'GET' | 'POST'; children: Child }) => {
  const { to, method = 'POST', children } = props;
  return <>{useContext(PageReader).mayGo(method, to) && children}</>;
};

/** A webhook's URL. Its query may have secrets, which viewers do not see. */
export const shownUrl = (url: string): string =>
  may(useContext(PageReader).role, 'member')
    ? url
    : url.replace(/([?&](?:[^=&#]*=)?)[^&#]*/g, '$1…');

export const WebhookUrl = ({ url }: { url: string }) => <Breakable text={shownUrl(url)} />;

/** Whom people without the right ask: "Ask an admin". */
export const askWho = (needed: Role): string =>
  needed === 'admin' ? 'Ask an admin' : 'Ask an admin or a member';

/** How much a button stands out: at most one of a page is `primary`; `danger` destroys something. */
export type Weight = 'primary' | 'plain' | 'danger' | 'ghost' | 'ghost danger';

type ButtonProps = {
  name: string;
  icon?: IconName;
  weight?: Weight;
  small?: boolean;
  /** Names its object for screen readers. */
  about?: string;
};

const classOf = ({ weight = 'plain', small }: ButtonProps): string =>
  ['btn', ...weight.split(' ').map((one) => `btn-${one}`), small && 'btn-sm']
    .filter(Boolean)
    .join(' ');

const Words = ({ name, icon, about }: ButtonProps) => (
  <>
    {icon && <Icon name={icon} />}
    {name}
    {about && <span class="sr-only"> {about}</span>}
  </>
);

/** A form that changes something. Its key tells when it is sent again. */
export const PostForm = (props: {
  to?: string | undefined;
  look?: string | undefined;
  children: Child;
}) => (
  <form method="post" action={props.to} class={props.look} novalidate>
    <input type="hidden" name="key" value={crypto.randomUUID()} />
    {props.children}
  </form>
);

/** A button in a form of its own, for people with the right. */
export const PostButton = (props: ButtonProps & { to: string }) => (
  <Allowed to={props.to}>
    <PostForm to={props.to}>
      <button type="submit" class={classOf(props)}>
        <Words {...props} />
      </button>
    </PostForm>
  </Allowed>
);

/** A link that looks like a button, for people with the right. */
export const LinkButton = (props: ButtonProps & { href: string }) => (
  <Allowed to={props.href} method="GET">
    <a class={classOf(props)} href={props.href}>
      <Words {...props} />
    </a>
  </Allowed>
);

/** The button that sends a form; of several, `does` says which was pressed. */
export const Submit = (props: ButtonProps & { does?: string | undefined; to?: string }) => (
  <button
    type="submit"
    class={classOf({ weight: 'primary', ...props })}
    name={props.does && 'do'}
    value={props.does}
    formaction={props.to}
  >
    <Words {...props} />
  </button>
);

/** A button that copies a `text`, or the text `of` an element, on a page whose scripts run. */
export const CopyButton = (props: {
  of?: string;
  text?: string;
  name?: string;
  small?: boolean;
}) => {
  const { of = '', text, name = 'Copy', small = false } = props;
  return (
    <button class={classOf({ name, small })} type="button" data-copy={of} data-text={text}>
      <Icon name="copy" />
      <span>{name}</span>
    </button>
  );
};

/** A menu of a page's less common actions. */
export const MoreActions = ({ children }: { children: Child }) => (
  <>
    <button class="btn" type="button" popovertarget="more" aria-label="More actions">
      <Icon name="ellipsis" />
    </button>
    <div class="dialog menu-list" id="more" popover="auto">
      {children}
    </div>
  </>
);

/** A decorative icon beside a word. */
export const Icon = ({ name, small = false }: { name: IconName; small?: boolean }) => (
  <Shape id={name} look={small ? 'icon icon-sm' : 'icon'} />
);

/** A shape of the file that `npm run assets` builds: an icon, a risk as rising bars, or a level as segments. */
export const Shape = ({ id, look }: { id: string; look: string }) => (
  <svg class={look} aria-hidden="true">
    <use href={`/design/icons.svg#${id}`} />
  </svg>
);
