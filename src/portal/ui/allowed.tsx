import type { Child } from 'hono/jsx';
import { may, type Role } from '../../platform/roles.ts';
import { reader } from './reader.ts';

export const roleNames: { [role in Role]: string } = { admin: 'Admin', member: 'Member', viewer: 'Viewer' };

export const aRole = (role: Role): string => `${role === 'admin' ? 'an' : 'a'} ${role}`;

/** Shows its children only to people who may follow this link, or send a form there. */
export const Allowed = (props: { to: string; method?: 'GET' | 'POST'; children: Child }) => {
  const { to, method = 'POST', children } = props;
  return <>{reader().mayGo(method, to) && children}</>;
};

/** A webhook's URL. Its query may have secrets, which viewers do not see. */
export const shownUrl = (url: string): string =>
  may(reader().role, 'member') ? url : url.replace(/([?&](?:[^=&#]*=)?)[^&#]*/g, '$1…');

export const WebhookUrl = ({ url }: { url: string }) => <>{shownUrl(url)}</>;

/** Whom people without the right ask: "Ask an admin". */
export const askWho = (needed: Role): string =>
  needed === 'admin' ? 'Ask an admin' : 'Ask an admin or a member';
