import { worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeAll);

it.each([
  ['/changes?Kind=trip', 'Kind', /, did you mean kinds\?$/],
  ['/deliveries?since=2026-11-20', 'since', /; known are limit, cursor, webhookId/],
])('parameters that are unknown are refused with the nearest: %s', async (path, field, message) => {
  const refusal = { field, message: expect.stringMatching(message) };
  expect(await us.api.get(path)).toMatchObject({ status: 400, errors: [refusal] });
});

it.each([
  ['/changes?limit=1&limit=2', 'limit'],
  ['/deliveries?status=failed&status=pending', 'status'],
])('a parameter is refused if it is given twice: %s', async (path, field) => {
  const message = `${field} must be given only once`;
  expect(await us.api.get(path)).toMatchObject({ status: 400, message, errors: [{ field }] });
});

it.each(['/changes?cursor=', '/deliveries?cursor='])('an empty cursor is none: %s', async (path) =>
  expect(await us.api.get(path)).toMatchObject({ status: 200 }),
);
