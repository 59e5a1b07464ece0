import { config } from '../../core/platform/config.ts';
import { checksum, hasChecksum } from '../../core/platform/crypto.ts';
import { Refusal } from '../../core/platform/errors.ts';
import type { Context } from '../../core/platform/http/context.ts';
import { connectionSql } from '../added.ts';
import { readVersion, type Watched } from '../read/find-session.ts';
import { sessionHashOf } from './signed-in.ts';

/** The address at which a page asks for its version. It proves that the session may ask. */
export async function versionPath(
  c: Context,
  watched: Watched,
  sessionHash: string,
): Promise<string> {
  const proof = await checksum(
    config(c.env).encryptionKeys,
    'page version',
    claim(watched, sessionHash),
  );
  return `/portal/page-version?${new URLSearchParams({ ...watched, proof })}`;
}

/** Whether an open page has changed, by two rows. @throws Refusal: unauthenticated, rate limited */
export async function pageVersion(c: Context) {
  const { of = '', id = '', proof = '' } = c.req.query();
  const hash = await sessionHashOf(c);
  if (hash === undefined || !(await isProven(c, { of, id }, hash, proof))) throw unauthenticated();
  const version = await readVersion(c.env, { of, id }, hash, connectionSql(c));
  if (version === undefined) throw unauthenticated();
  return c.json({ version });
}

const isProven = (c: Context, watched: { of: string; id: string }, hash: string, proof: string) =>
  hasChecksum(config(c.env).encryptionKeys, 'page version', claim(watched, hash), proof);

const claim = ({ of, id }: { of: string; id: string }, sessionHash: string): string =>
  `${sessionHash} ${of} ${id}`;

const unauthenticated = () => new Refusal({ kind: 'unauthenticated' });
