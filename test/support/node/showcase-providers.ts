import type { Page } from 'playwright-core';
import type { Stack } from '../../../src/cli/local/stack.ts';
import { fakeSamsara, samsaraEvent, samsaraVehicle } from '../../../src/dev/fakes/samsara.ts';
import { until } from './journey.ts';
import { startProvider } from './provider.ts';

const words = ['Braking', 'MobileUsage', 'FollowingDistance', 'HarshTurn', 'Drowsy', 'LightSpeeding'];

/**
 * Connections that pull from a made-up Samsara: one whose history is on its way, with things that are wrong, and one
 * whose token is refused from now on.
 */
export async function connectProviders(stack: Stack, page: Page) {
  const now = Date.now();
  const vehicles = Array.from({ length: 40 }, (_, i) => samsaraVehicle(i + 1));
  const trucks = [
    samsaraVehicle(41, { make: 7 }),
    samsaraVehicle(42, { year: '1066', name: 'n'.repeat(300) }),
  ];
  const events = Array.from({ length: 700 }, (_, i) =>
    samsaraEvent(
      vehicles[i % 40] ?? {},
      i % 23 === 0 ? 'SamsaraCustomEvent3' : i % 41 === 0 ? 'YardTest' : (words[i % words.length] ?? ''),
      now - (i + 1) * 5 * 3_600_000,
    ),
  );
  const data = {
    organisation: 'Quillmoor Harbor',
    vehicles: [...vehicles, ...trucks],
    drivers: [],
    trips: [],
    events,
  };
  const other = { ...data, organisation: 'Quillmoor Cold Chain', token: 'samsara_api_made_up_2' };
  const harbor = fakeSamsara({ ...data, token: 'samsara_api_made_up_1' });
  let calls = 0;
  const busyHarbor = async (request: Request) =>
    calls++ > 12 && new URL(request.url).pathname === '/safety-events/stream'
      ? Response.json({ message: 'Too many' }, { status: 429, headers: { 'retry-after': '3600' } })
      : harbor(request);
  const [chain, third] = [fakeSamsara(other), fakeSamsara({ ...data, token: 'samsara_api_made_up_3' })];
  const provider = await startProvider((request) => {
    const token = request.headers.get('authorization')?.slice(-1);
    return token === '1' ? busyHarbor(request) : token === '2' ? chain(request) : third(request);
  });
  const test = async (credential: string) => {
    await page.goto(`${stack.baseUrl}/portal/connections/new?provider=samsara`);
    await page.getByText('Another address of the API').click();
    await page.getByLabel('Address').fill(provider.url);
    await page.getByLabel('API token').fill(credential);
    await page.getByRole('button', { name: 'Test the connection' }).click();
    await page.waitForLoadState();
  };
  const connect = async (credential: string, name: string) => {
    await test(credential);
    await page.getByRole('textbox', { name: 'Name' }).fill(name);
    await page.getByRole('button', { name: 'Add connection' }).click();
    await page.waitForURL(/connections\/[0-9a-f-]{36}$/);
    return page.url().split('/').at(-1) ?? '';
  };
  const pulledId = await connect('samsara_api_made_up_1', 'Harbor trucks');
  const refusedId = await connect('samsara_api_made_up_2', 'Cold chain');
  await until('the history is on its way', async () => {
    await page.goto(`${stack.baseUrl}/portal/connections/${refusedId}`);
    return (await page.locator('#state-now').innerText()).includes('Healthy');
  });
  other.token = 'revoked';
  await page.getByRole('button', { name: 'Pull now' }).click();
  await until('the token is refused', async () => {
    await page.goto(`${stack.baseUrl}/portal/connections/${refusedId}`);
    return (await page.locator('#state-now').innerText()).includes('refused');
  });
  return { pulledId, refusedId, testCredential: test, provider };
}
