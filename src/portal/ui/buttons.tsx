import type { Child } from 'hono/jsx';
import { Allowed } from './allowed.tsx';
import type { IconName } from './icon-names.ts';
import { Icon } from './icons.tsx';

/** How much a button stands out: at most one of a page is `primary`; `danger` destroys something. */
export type Weight = 'primary' | 'plain' | 'danger' | 'ghost' | 'ghost danger';

const weights: { [weight in Weight]: string } = {
  primary: 'btn btn-primary',
  plain: 'btn',
  danger: 'btn btn-danger',
  ghost: 'btn btn-ghost',
  'ghost danger': 'btn btn-ghost btn-danger',
};

/** A button in a form of its own, for people with the right. */
export const PostButton = (props: { to: string; name: string; icon?: IconName; weight?: Weight }) => (
  <Allowed to={props.to}>
    <form method="post" action={props.to}>
      <button type="submit" class={weights[props.weight ?? 'plain']}>
        {props.icon && <Icon name={props.icon} />}
        {props.name}
      </button>
    </form>
  </Allowed>
);

/** A link that looks like a button, for people with the right. `about` names its object for screen readers. */
export const LinkButton = (props: {
  href: string;
  name: string;
  icon?: IconName;
  weight?: Weight;
  small?: boolean;
  about?: string;
}) => (
  <Allowed to={props.href} method="GET">
    <a class={weights[props.weight ?? 'plain'] + (props.small ? ' btn-sm' : '')} href={props.href}>
      {props.icon && <Icon name={props.icon} />}
      {props.name}
      {props.about && <span class="sr-only"> {props.about}</span>}
    </a>
  </Allowed>
);

/** The button that sends a form; of several, `does` identifies the one pressed. */
export const Submit = (props: { name: string; weight?: Weight; does?: string }) => (
  <button
    type="submit"
    class={weights[props.weight ?? 'primary']}
    name={props.does && 'do'}
    value={props.does}
  >
    {props.name}
  </button>
);

/** A button of a form that has several: `does` identifies it, and `to` leads back to its place. */
export const FormButton = (props: {
  to: string;
  does: string;
  icon?: IconName;
  ghost?: boolean;
  children: Child;
}) => (
  <button
    class={`btn btn-sm${props.ghost ? ' btn-ghost' : ''}`}
    type="submit"
    name="do"
    value={props.does}
    formaction={props.to}
  >
    {props.icon && <Icon name={props.icon} />}
    {props.children}
  </button>
);

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
