import { isPrintable } from '../../platform/fields.ts';
import { Problem } from '../problem.ts';
import { at } from '../read.ts';

/** Where every database can be reached first: it says which server has it. */
export const usualServer = 'https://my.geotab.com';

/** What Geotab wants for a session. `server` is an origin, such as `https://my.geotab.com`. */
export type Login = { server: string; database: string; user: string; password: string };

/**
 * Reads the credential that people enter: JSON with server, database, user and password. What tells it from others is
 * all but the password, so that a new one is no other connection.
 *
 * @throws Problem: invalid, naming the field
 */
export function readLogin(text: string): { credential: string; identity: string } {
  const given = parsed(text);
  const login: Login = {
    server: serverOf(given),
    database: wordOf(given, 'database'),
    user: wordOf(given, 'user'),
    password: secretOf(given),
  };
  const { password: _, ...identity } = login;
  return { credential: JSON.stringify(login), identity: JSON.stringify(identity) };
}

/** A credential as `readLogin` has written it. */
export const loginOf = (credential: string): Login => JSON.parse(credential) as Login; // its own words

/** The origin of a server, which may be a bare host; undefined if it is none. */
export function originOf(server: string): string | undefined {
  const url = URL.parse(server.includes('://') ? server : `https://${server}`);
  const isBare = url && `${url.pathname}${url.search}${url.hash}${url.username}${url.password}` === '/';
  return isBare && /^https?:$/.test(url.protocol) ? url.origin : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrong('must be JSON: {"server": "my.geotab.com", "database": "…", "user": "…", "password": "…"}');
  }
}

function serverOf(given: unknown): string {
  const server = at(given, 'server') ?? '';
  const origin = typeof server === 'string' ? originOf(server.trim() || usualServer) : undefined;
  if (!origin) throw wrong('needs as its server a host, such as my.geotab.com');
  return origin;
}

function wordOf(given: unknown, name: string): string {
  const value = at(given, name);
  const text = typeof value === 'string' ? value.trim() : '';
  if (text === '' || text.length > 200 || !isPrintable(text))
    throw wrong(`needs a ${name} of 1 to 200 characters`);
  return text;
}

function secretOf(given: unknown): string {
  const password = at(given, 'password');
  if (typeof password !== 'string' || password === '' || password.length > 500)
    throw wrong('needs a password of 1 to 500 characters');
  return password;
}

const wrong = (what: string) => new Problem('invalid', `The credential ${what}.`);
