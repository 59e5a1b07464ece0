import { expect, it } from 'vitest';
import { fakeService } from '../../support/node/fake-service.ts';
import { fleet } from '../../support/node/journey.ts';

const bodies: unknown[] = [];
const service = await fakeService(({ body }) => {
  bodies.push(body);
  return { data: { id: 'x' } };
});

it.each([
  ['connection', 'FL-1', 'FL-1'],
  ['connection', '', null],
  ['vehicle', 'FL-1', 'FL-1'],
  ['vehicle', '', null],
])('fleet %s update --external-id "%s" sets it to %j', async (kind, given, externalId) => {
  await fleet(service, kind, 'update', 'x', '--external-id', given);
  expect(bodies.at(-1)).toEqual({ externalId });
});
