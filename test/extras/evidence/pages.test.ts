import {
  copyAll,
  crash,
  filesOf,
  keepFor,
  linked,
  media,
  video,
} from '#test/extras/evidence/support.ts';
import { type Person, signIn } from '#test/support/portal.ts';
import { rows } from '#test/support/rows.ts';
import { worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeEach);
let ann: Person;
beforeEach(async () => {
  ann = await signIn(us);
  await keepFor(us, 90);
});

it('the page of an accident plays its videos, shows its photos, and says what is missing and until when', async () => {
  const photo = new Uint8Array([0xff, 0xd8, 0xff, 0xe0]);
  media({
    '/road.mp4': video(1000),
    '/cab.jpg': photo,
    '/late.mp4': () => new Response('', { status: 503 }),
  });
  const { id } = await crash(us, [
    linked('/road.mp4', { camera: 'Road', takenAt: '2026-11-20T20:00:00Z' }),
    linked('/cab.jpg', { kind: 'photo', camera: 'Cab' }),
    linked('/cab.jpg', { kind: 'document' }),
    linked('/wrong.mp4?sig=1', { url: 'https://media.example.com/cab.jpg?x=1' }),
    linked('/late.mp4'),
  ]);
  const path = `/portal/accidents/${id}`;
  expect(await ann.textAt(path)).toContain('5 files being copied');
  await copyAll(us);
  const html = await (await ann.get(path)).text();
  const files = await filesOf(us, id);
  const of = (kind: string) =>
    `${path}/evidence/${files.find((file) => file.kind === kind && file.state === 'stored')?.id}`;
  expect(html).toMatch(
    new RegExp(`<video[^>]* src="${of('video')}"[^>]* aria-label="Video, Road"`),
  );
  expect(html).not.toContain('autoplay');
  for (const tag of ['video', 'img'])
    expect(html).toMatch(new RegExp(`<${tag} class="aspect-video w-full `));
  expect(html).toContain(`src="${of('photo')}" alt="Photo, Cab"`);
  const text = await ann.textAt(path);
  for (const said of [
    'Video, Road,',
    'Missed The file is no video of a known type',
    'being copied. The server returned 503; we will retry.',
    'All of it will be deleted by',
  ])
    expect(text).toContain(said);
  const order = ['Photo, Cab', 'being copied.', 'Missed'].map((said) => text.indexOf(said));
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  const shown = await ann.get(of('video'));
  expect(Object.fromEntries(shown.headers)).toMatchObject({
    'content-disposition': expect.stringMatching(/^inline/),
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  });
  expect((await shown.arrayBuffer()).byteLength).toBe(1000);
  expect((await ann.get(of('document'))).headers.get('content-disposition')).toMatch(/^attachment/);
  const zip = new Uint8Array(await (await ann.get(`${path}/evidence`)).arrayBuffer());
  const manifest = new TextDecoder('latin1').decode(zip);
  expect(manifest.slice(0, 4)).toBe('PK\x03\x04');
  for (const { id: file, sha256, state } of files)
    if (state === 'stored')
      for (const part of [sha256, file.slice(0, 8)]) expect(manifest).toContain(part);
  expect(manifest).toContain('The file is no video of a known type');
  const opened = `select actor_name from audit_log where account_id = ?1 and fields like '%evidence opened%'`;
  expect(await rows(opened, us.accountId)).toEqual(Array(3).fill({ actor_name: ann.email }));
});
