import { env } from 'cloudflare:workers';
import { expect } from 'vitest';
import { openDraft, sealDraft } from '../../../src/providers/draft.ts';
import type { Claimed } from '../../../src/providers/store.ts';
import { noteRefusals } from '../../../src/providers/store.ts';
import { ask, textOf } from '../../support/portal.ts';
import { connect } from '../../support/provider.ts';
import { receiver } from '../../support/receiver.ts';
import { rows } from '../../support/rows.ts';
import { samsara, samsaraToken } from '../../support/samsara.ts';
import { cookie, type Hits, letters, minuteMs, times, us } from './setting.ts';

const add = '/portal/connections/new?provider=samsara';
const send = (fields: Record<string, string>) => ask('POST', add, { cookie, fields });

/** The page of a connection that pulls, and its id. */
async function pulled() {
  samsara(receiver());
  await rows('delete from pulls where account_id = ?1', us.accountId); // an account connects a credential once
  const id = await connect(us, 'samsara', samsaraToken);
  return { id, page: async () => (await ask('GET', `/portal/connections/${id}`, { cookie })).text() };
}

/** Events of a connection, one for each of these words, the first the latest. */
const addEvents = (id: string, words: string[]) =>
  rows(
    `insert into safety_events (id, account_id, connection_id, source_id, tsp, incident_types,
       translated_incident_types, event_risk, issued_on, started_at, vehicle_id, vehicle_name, vehicle_groups,
       created_at, updated_at)
     select ?1 || key, ?2, ?1, key, 'Samsara', json_array(value), '["Other"]', 1, 0, 1000000 - key, 'v', 'v', '[]', 0, 0
     from json_each(?3)`,
    id,
    us.accountId,
    JSON.stringify(words),
  );

export const connectionHits: Hits = {
  'time between testing the credential of a new connection and adding it': async (minutes) => {
    const draft = {
      provider: 'samsara',
      credential: 'c',
      baseUrl: 'https://b.example.com',
      organisation: 'o',
    };
    const sealed = await sealDraft(env, 'session', draft);
    const openedAfter = (ms: number) => openDraft(env, 'session', sealed, Date.now() + ms);
    expect(await openedAfter(minutes * minuteMs - 1000)).toEqual(draft);
    expect(await openedAfter(minutes * minuteMs)).toBeUndefined();
  },
  'credential of a provider': async (characters) => {
    samsara(receiver());
    const said = `can be at most ${characters} characters`;
    expect(await textOf(await send({ credential: letters(characters) }))).not.toContain(said);
    expect(await textOf(await send({ credential: letters(characters + 1) }))).toContain(said);
  },
  'refused records of a connection that are kept': async (kept) => {
    const { id, page } = await pulled();
    const refused = times(kept + 1, (i) => ({ kind: 'trip', sourceId: `t${i}`, reason: 'No' }));
    const claimed = { connectionId: id } as Claimed; // all that this needs of it
    await noteRefusals(env, claimed, refused.slice(0, 1), 1);
    await noteRefusals(env, claimed, refused.slice(1), 2);
    const html = await page();
    expect(html.match(/>t\d+</g)).toHaveLength(kept);
    expect(html).not.toContain('>t0<');
  },
  'words without an incident type on the page of a connection': async (most) => {
    const { id, page } = await pulled();
    await addEvents(
      id,
      times(most + 1, (i) => `Word${i}`).flatMap((word, i) => (i === most ? [word] : [word, word])),
    );
    const html = await page();
    expect(html.match(/>Word\d+</g)).toHaveLength(most);
    expect(html).not.toContain(`>Word${most}<`);
  },
  'events of a connection that are looked through for such words': async (most) => {
    const { id, page } = await pulled();
    await addEvents(id, [...times(most - 1, () => 'Braking'), 'LastWord', 'TooLateWord']);
    const html = await page();
    expect(html).toContain('LastWord');
    expect(html).not.toContain('TooLateWord');
  },
};
