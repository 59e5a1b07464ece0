import type { Child } from 'hono/jsx';
import { may, type Role } from '../../platform/roles.ts';
import { roleForAddress } from '../session/rights.ts';
import { reader } from './reader.ts';

/** What roles are called. */
export const roleNames: { [role in Role]: string } = { admin: 'Admin', member: 'Member', viewer: 'Viewer' };

/** A role with its article. */
export const aRole = (role: Role): string => `${role === 'admin' ? 'an' : 'a'} ${role}`;

/** What only people see who may follow this link, or send a form there. */
export const Allowed = (props: { to: string; method?: 'GET' | 'POST'; children: Child }) => {
  const { to, method = 'POST', children } = props;
  const allowed = may(reader().role, roleForAddress(method, to));
  return <>{allowed && children}</>;
};

/** A webhook's URL. The values of its query may be secrets: viewers do not see them. */
export const WebhookUrl = ({ url }: { url: string }) => (
  <>{may(reader().role, 'member') ? url : url.replace(/([?&](?:[^=&#]*=)?)[^&#]*/g, '$1…')}</>
);

/** A form for people who may send it; the others see what is in it, in which `Allowed` leaves the controls out. */
export const AllowedForm = (props: { to: string; look: string; children: Child }) => {
  const { to, look, children } = props;
  return may(reader().role, roleForAddress('POST', to)) ? (
    <form method="post" action={to} class={look}>
      {children}
    </form>
  ) : (
    <div class={look}>{children}</div>
  );
};

/** Tells people who may not send a form there who can: "Ask an admin to invite people." */
export const AskInstead = (props: { to: string; what: string }) => {
  const needed = roleForAddress('POST', props.to);
  if (may(reader().role, needed)) return null;
  return (
    <p class="sub">
      {askWho(needed)} to {props.what}.
    </p>
  );
};

/** Whom to ask for what needs a role. */
export const askWho = (needed: Role): string =>
  needed === 'admin' ? 'Ask an admin' : 'Ask an admin or a member';
