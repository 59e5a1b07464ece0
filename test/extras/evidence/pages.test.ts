import { personBefore, rows } from '#test/support.ts';
import {
  copyAll,
  crash,
  evidenceWorld,
  filesOf,
  linked,
  media,
  returning,
  video,
} from './support.ts';

const us = evidenceWorld();
const ann = personBefore(beforeEach, us);

it('the page of an accident plays its videos, shows its photos, and says what is missing and until when', async () => {
  const photo = new Uint8Array([0xff, 0xd8, 0xff, 0xe0]);
  media({ '/road.mp4': video(1000), '/cab.jpg': photo, '/late.mp4': returning(503) });
  const { id } = await crash(us, [
    linked('/road.mp4', { camera: 'Road', takenAt: '2026-11-20T20:00:00Z' }),
    linked('/cab.jpg', { kind: 'photo', camera: 'Cab' }),
    linked('/cab.jpg', { kind: 'document' }),
    linked('/cab.jpg?x=1'),
    linked('/late.mp4'),
  ]);
  const path = `/portal/accidents/${id}`;
  expect(await ann.textAt(path)).toContain('5 files being copied');
  await copyAll(us);
  const files = await filesOf(us, id);
  const of = (kind: string) =>
    `${path}/evidence/${files.find((file) => file.kind === kind && file.state === 'stored')?.id}`;
  const { all, html, text } = await ann.page(path);
  const shown = (tag: string, name: string) =>
    all(`main ${tag}`).map((one) => [one.getAttribute('src'), one.getAttribute(name)]);
  expect(shown('video', 'aria-label')).toEqual([[of('video'), 'Video, Road']]);
  expect(shown('figure img', 'alt')).toEqual([[of('photo'), 'Photo, Cab']]);
  expect(html).not.toContain('autoplay');
  for (const said of [
    'Video, Road,',
    'Missed The file is no video of a known type',
    'being copied. The server returned 503; we will retry.',
    'All of it will be deleted by',
  ])
    expect(text).toContain(said);
  const order = ['Photo, Cab', 'being copied.', 'Missed'].map((said) => text.indexOf(said));
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  const played = await ann.get(of('video'));
  expect(played.headers.get('content-disposition')).toMatch(/^inline/);
  expect((await played.arrayBuffer()).byteLength).toBe(1000);
  expect((await ann.get(of('document'))).headers.get('content-disposition')).toMatch(/^attachment/);
  const zip = await (await ann.get(`${path}/evidence`)).arrayBuffer();
  const manifest = new TextDecoder('latin1').decode(zip);
  expect(manifest.slice(0, 4)).toBe('PK\x03\x04');
  for (const { id: file, sha256, state } of files)
    if (state === 'stored')
      for (const part of [sha256, file.slice(0, 8)]) expect(manifest).toContain(part);
  expect(manifest).toContain('The file is no video of a known type');
  const opened = `select actor_name from audit_log where account_id = ?1 and fields like '%evidence opened%'`;
  expect(await rows(opened, us.accountId)).toEqual(Array(3).fill({ actor_name: ann.email }));
});
