import { env } from 'cloudflare:workers';
import { copyEvidence } from '#src/extras/evidence/copy.ts';
import { receiver } from '#test/support/receiver.ts';
import { accident } from '#test/support/records.ts';
import { rows } from '#test/support/rows.ts';
import { operator, type World } from '#test/support/world.ts';

export const mediaOrigin = 'https://media.example.com';

export type FileOut = {
  id: string;
  kind: string;
  state: string;
  bytes: number;
  sha256: string;
  reason: string | null;
} & Record<string, unknown>;

/** Has the account keep evidence for so many days, or none. */
export const keepFor = (us: World, evidenceDays: number | null) =>
  operator.patch(`/operator/accounts/${us.accountId}`, { evidenceDays });

/** The bytes of an MP4 of that size, of which no two parts are equal. */
export function video(size: number): Uint8Array<ArrayBuffer> {
  const bytes = Uint8Array.from({ length: size }, (_, i) => (i >> 16) ^ i);
  bytes.set(new TextEncoder().encode('\0\0\0\x10ftypisom\0\0\0\0\0\0\0\0mdat'));
  return bytes;
}

/** Serves files by their path, with ranges; a function responds itself. Returns what was asked for, with its range. */
export function media(
  files: { [path: string]: BodyInit | ((request: Request) => Response | Promise<Response>) },
  origins = [mediaOrigin],
) {
  const asked: string[] = [];
  const serve = async (request: Request) => {
    const { pathname } = new URL(request.url);
    const range = request.headers.get('range');
    asked.push([pathname, range].filter(Boolean).join(' '));
    const file = files[pathname];
    if (typeof file === 'function') return file(request);
    if (file === undefined) return new Response('gone', { status: 404 });
    const bytes = new Uint8Array(await new Response(file).arrayBuffer());
    const from = Number(/\d+/.exec(range ?? '')?.[0] ?? 0);
    return partOf(bytes, from, range !== null);
  };
  const servers = receiver();
  for (const origin of origins) servers.serves(origin, serve);
  return { asked };
}

/** How a server sends the bytes of a file from one on. */
export const partOf = (bytes: Uint8Array<ArrayBuffer>, from: number, isRange = from > 0) =>
  new Response(bytes.subarray(from), {
    status: isRange ? 206 : 200,
    headers: {
      'content-length': String(bytes.length - from),
      ...(isRange && { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
    },
  });

export const linked = (path: string, more: object = {}) => ({
  kind: 'video',
  url: mediaOrigin + path,
  ...more,
});

/** Sends an accident with these links. Returns its id, and what ingest said. */
export async function crash(us: World, evidence: unknown, more: object = {}) {
  const { data } = await us.send(accident({ notificationLevel: 3, evidence, ...more }));
  const [found] = await rows<{ id: string }>(
    'select id from accidents where account_id = ?1 order by created_at desc, id limit 1',
    us.accountId,
  );
  return { id: String(found?.id), ...data };
}

/** Copies what is due, and what would be due later. */
export async function copyAll(us: World, bindings: Env = env): Promise<void> {
  await rows(
    'update evidence set next_at = 0 where account_id = ?1 and next_at is not null',
    us.accountId,
  );
  await copyEvidence(bindings, us.accountId, { until: Date.now() + 60_000, queries: 800 });
}

export async function filesOf(us: World, id: string): Promise<FileOut[]> {
  const { data } = await us.api.get<{ evidence?: FileOut[] }>(`/accidents/${id}`);
  return data.evidence ?? [];
}
