import { recordKinds } from '#src/core/fleet/lists/registry.ts';
import { personalPages, portalAccountBefore } from '#test/support/portal-account.ts';
import { unlimited } from '#test/support/routes.ts';
import {
  addConnection,
  as,
  issueKey,
  operator,
  pageIn,
  safetyEvent,
  value,
  vehicle,
  world,
} from '#test/support.ts';

/** What every object inherits: none of these is in a table of ours, whoever asks for it. */
const inherited = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'];
/** Values with a word; all of them of the first, which says enough of the others. */
const shapesOf = (word: string) =>
  word === inherited[0] ? [word, [word], { [word]: word }, { [word]: ['Crash'] }] : [word];

const ours = portalAccountBefore(beforeAll);

describe('a name that every object inherits is as good as unknown', () => {
  it.each(recordKinds)('records of the kind $kind', async ({ recordExample, recordFields }) => {
    const them = await world();
    const records = inherited.flatMap((word) =>
      ['kind', 'sourceId', ...Object.keys(recordFields), word].flatMap((name) =>
        shapesOf(word).map((value) => ({ ...recordExample, [name]: value })),
      ),
    );
    for (let from = 0; from < records.length; from += 500)
      expect((await them.send(...records.slice(from, from + 500))).status).toBe(200);
  });

  it.each(personalPages)('GET %s, and the forms on it', { timeout: 60_000 }, async (page) => {
    const path = ours.at(page);
    const forms = pageIn(await ours.html(path)).all('form');
    const sent = { bindings: unlimited() };
    const failed: unknown[] = [];
    const see = ({ status }: Response, ...what: unknown[]) => status >= 500 && failed.push(what);
    for (const word of inherited) {
      const wrong = page.replace(/:\w+/g, word);
      see(await ours.get(wrong, sent), wrong);
      for (const form of forms) {
        const action = form.getAttribute('action') || path;
        const controls = form.querySelectorAll('[name]');
        const names = new Set(controls.map((control) => control.getAttribute('name') ?? ''));
        const fields = [...names, word].map((name): [string, string] => [name, word]);
        for (const some of [fields, ...fields.map((field) => [field])])
          if (form.getAttribute('method') === 'post')
            see(await ours.post(action, some, sent), action, some);
          else see(await ours.get(`${action}?${new URLSearchParams(some)}`, sent), action, some);
      }
    }
    expect(failed).toEqual([]);
  });
});

it('a provider and its labels may be called so', async () => {
  const { accountId } = await world();
  const { id, ...made } = await addConnection(accountId, { provider: inherited[0] });
  expect(made).toMatchObject({ tSP: 'Constructor' });
  const incidentTypeMap = Object.fromEntries(inherited.map((name) => [name, ['Crash']]));
  const path = `/operator/connections/${id}`;
  const { data } = await operator.patch<{ incidentTypeMap: object }>(path, { incidentTypeMap });
  const entries = Object.entries(data.incidentTypeMap);
  expect(entries.sort()).toEqual(Object.entries(incidentTypeMap).sort());
  const connector = as(await issueKey(id));
  for (const name of inherited)
    await connector.send(vehicle(), safetyEvent({ sourceId: name, incidentTypes: [name] }));
  const crashes = `select count(*) from safety_events
    where connection_id = ?1 and translated_incident_types = '["Crash"]'`;
  expect(await value(crashes, id)).toBe(inherited.length);
});
