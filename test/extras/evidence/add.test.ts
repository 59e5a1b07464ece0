import { maxEvidence } from '#src/core/fleet/lists/field-objects.ts';
import { maxDayFiles, maxEver } from '#src/extras/evidence/add.ts';
import { accident, addRows, rows, times, value } from '#test/support.ts';
import { copyAll, crash, evidenceWorld, filesOf, linked, media, mediaOrigin } from './support.ts';

const us = evidenceWorld();

describe('the links of a record', () => {
  it('are at most 20 of an accident, in however many records', async () => {
    const links = (from: number, count: number) => times(count, (i) => linked(`/${from + i}.mp4`));
    const { warnings } = await crash(us, links(0, 21));
    expect(warnings).toMatchObject([
      { field: 'evidence', message: expect.stringContaining('at most 20 files') },
    ]);
    const { id } = await crash(us, links(15, 15));
    expect(await filesOf(us, id)).toHaveLength(20);
  });

  it('are at most 5,000 of an account in a day, and 100 of an accident in all', async () => {
    const { id } = await crash(us, [linked('/first.mp4')]);
    const add = (count: number, accident_id: string) =>
      addRows('evidence', count, () => ({
        account_id: us.accountId,
        connection_id: us.connection.id,
        accident_id,
        kind: 'video',
        state: 'gone',
        created_at: Date.now(),
      }));
    await add(maxDayFiles - 2, 'another');
    const links = ['/first.mp4', '/second.mp4', '/third.mp4'].map((path) => linked(path));
    await crash(us, links);
    expect(await filesOf(us, id)).toHaveLength(2);
    await rows('delete from evidence');
    await add(maxEver - 1, id);
    await crash(us, links);
    expect(await filesOf(us, id)).toHaveLength(1);
  });

  it('are as many as fit into a call', async () => {
    const accidents = times(500, (i) =>
      accident({
        sourceId: `crash-${i}`,
        evidence: times(maxEvidence, (k) => linked(`/${i}-${k}.jpg`)),
      }),
    );
    expect((await us.send(...accidents)).data).toMatchObject({ accepted: 500 });
    expect(await value('select count(*) from evidence')).toBe(maxDayFiles);
  });

  it('to one file are one, the last, with a warning', async () => {
    const { asked } = media();
    const links = ['?sig=1', '?sig=2'].map((signature) => linked(`/road.mp4${signature}`));
    const { id, warnings } = await crash(us, links);
    const message = 'leads to the same file as a later link, which replaced it';
    expect(warnings).toMatchObject([{ field: 'evidence.url', message }]);
    expect(await value('select source from evidence')).toMatch(/sig=2$/);
    await copyAll(us);
    expect(await filesOf(us, id)).toHaveLength(1);
    expect(asked).toHaveLength(1);
  });

  it('that cannot be used are dropped with a warning, and the rest is kept', async () => {
    const { id, accepted, warnings } = await crash(us, [
      linked('/good.mp4', { takenAt: 'yesterday', camera: 7 }),
      { kind: 'video', url: 'http://media.example.com/plain.mp4' },
      { kind: 'hologram', url: `${mediaOrigin}/x` },
      linked('', { url: 'https://127.0.0.1.nip.internal/x' }),
      'https://media.example.com/text.mp4',
    ]);
    expect(accepted).toBe(1);
    const message = 'must be a public address; it was dropped';
    expect(warnings).toContainEqual(expect.objectContaining({ message }));
    expect(await filesOf(us, id)).toMatchObject([{ camera: '7', takenAt: null }]);
  });
});
