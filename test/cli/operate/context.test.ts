import { expect, it } from 'vitest';
import { fakeService } from '../../support/node/fake-service.ts';
import { fleet } from '../../support/node/journey.ts';

const service = await fakeService(() => ({ status: 401, message: 'Unauthenticated' }));

it('a wrong operator key is called that', async () => {
  expect((await fleet(service, 'status')).err).toMatch(
    /^fleet: The service does not accept this operator key\. Set FLEET/,
  );
});
