import published from '#src/docs/openapi/published/openapi.json' with { type: 'json' };
import {
  type ApiDocument,
  type Content,
  parametersOf,
  referenceMarkdown,
} from '#src/docs/pages/reference.ts';

const document = published as unknown as ApiDocument; // TypeScript knows each of its parts
const reference = referenceMarkdown(document);
/** The part of the reference below a heading. */
const part = (title: string) =>
  reference.split(/^(?=##+ )/m).find((one) => one.includes(`# ${title}\n`)) ?? '';

test('the reference has every operation with its parameters, and what it refuses', () => {
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const { summary, responses } = operation;
      const shown = part(summary);
      expect(shown).toContain(`bash ${method.toUpperCase()} ${path}\n`);
      for (const { name } of parametersOf(document, operation))
        expect(shown, summary).toContain(`| \`${name}\` |`);
      const { content } = (responses[400] ?? {}) as { content?: Content };
      for (const message of Object.keys(content?.['application/json'].examples ?? {}))
        expect(shown, summary).toContain(`| 400 | \`${message}\` |`);
    }
});

test('every object that is linked to is there, with all of its fields', () => {
  const linked = new Set([...reference.matchAll(/\]\(#(\w+)\)/g)].map(([, name]) => name));
  expect(linked.size).toBeGreaterThan(20);
  const { schemas } = document.components;
  for (const name of linked) {
    const component = Object.keys(schemas).find((one) => one.toLowerCase() === name) ?? '';
    const shown = part(component);
    for (const field of Object.keys(schemas[component]?.properties ?? { none: {} }))
      expect(shown, component).toContain(`| \`${field}\` |`);
  }
});

test('of a file it says what it is, its ranges, and how to save it', () => {
  const shown = part('Get a file of an accident');
  expect(shown).toMatch(
    /curl -sS -OJ "\$BASE_URL\/accidents\/[\da-f-]{36}\/evidence\/[\da-f-]{36}"/,
  );
  for (const said of [
    'The file. Its `Content-Type`',
    '| `Range` | string | Header. ',
    '| 206 |',
    '| 416 |',
  ])
    expect(shown).toContain(said);
  expect(shown).not.toContain('json 200');
});

test('types say what a value may be', () => {
  for (const [title, row] of [
    ['SafetyEvent', '| `eventRisk` | integer, 1 to 5 |'],
    ['SafetyEvent', '| `location` | [Location](#location) or `null` |'],
    ['WebhookInput', '. One of `POST`, `PUT`. |'],
    ['WebhookInput', '| `connectionIds` | list of UUIDs, optional |'],
    ['AccidentNotification', '| `location.latitude` | number | Degrees north'],
    ['List vehicles', '| `limit` | integer, at least 1, `50` by default |'],
    ['List safety events', '| `eventTypes` | list of strings, at most 100 |'],
  ] as const)
    expect(part(title)).toContain(row);
});

test('a sample calls with all that is required', () => {
  expect(part('List safety events')).toContain(
    '"$BASE_URL/safety-events?from=2026-11-01&to=2026-12-01"',
  );
  expect(part('List safety events')).toContain('-H "Connection-Id: ');
  expect(part('Delete a webhook')).toMatch(/-X DELETE "\$BASE_URL\/webhook\/[\da-f-]{36}"/);
  expect(part('Create a webhook')).toContain(`-d '{\n  "connectionIds": [`);
  expect(part('Get the health of the service')).not.toContain('x-api-key');
});
