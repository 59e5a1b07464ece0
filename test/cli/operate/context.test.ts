import { expect, it } from 'vitest';
import { fakeService } from '../../support/node/fake-service.ts';
import { fleet } from '../../support/node/journey.ts';

const service = await fakeService(() => ({ status: 401, message: 'Unauthenticated' }));

it.each([
  ['localhost:9510', 'http://localhost:9510'],
  ['api.example.com', 'https://api.example.com'],
  ['ftp://api.example.com', 'https://api.example.com'],
])('an address without http, %s, is refused with what was meant', async (baseUrl, meant) => {
  const { code, err } = await fleet({ ...service, baseUrl }, 'status');
  expect([code, err]).toEqual([
    1,
    `fleet: --url (or FLEET_URL) must begin with https:// or http://, such as ${meant}\n`,
  ]);
});

it('a wrong operator key is called that', async () => {
  expect((await fleet(service, 'status')).err).toMatch(
    /^fleet: The service does not accept this operator key\. Set FLEET/,
  );
});
