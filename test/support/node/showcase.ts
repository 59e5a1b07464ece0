import type { Browser, Page } from 'playwright-core';
import { startReceiver } from '../../../src/cli/local/receiver.ts';
import { dayMs } from '../../../src/platform/durations.ts';
import { launchBrowser } from './browser.ts';
import { addWebhook, api, fleet, fleetJson, journeyAccount, stackFolder, until } from './journey.ts';
import { countEarlierHours } from './showcase-hours.ts';
import { connectProviders } from './showcase-providers.ts';
import { accidentStory, showcaseRecords } from './showcase-records.ts';

const iso = (at: number) => new Date(at).toISOString();

/** Colleagues, further connections and tokens, made by the operators. */
async function furnish(stack: Showcase['stack'], accountId: string): Promise<void> {
  const add = (...args: string[]) => fleetJson<{ id: string }>(stack, ...args, '--account', accountId);
  await add('user', 'add', 'mara@quillmoor.example', '--role', 'member');
  await add('user', 'add', 'lene@quillmoor.example', '--role', 'viewer');
  const soon = iso(Date.now() + 2 * dayMs);
  await add('token', 'issue', '--name', 'Data warehouse');
  await add('token', 'issue', '--name', 'Dispatch board', '--expires', soon);
  await add('connection', 'create', '--provider', 'geotab', '--name', 'Yard');
}

/** A running service with an account that has something on every page, and somebody signed in to its portal. */
export type Showcase = {
  page: Page;
  browser: Browser;
  stack: Awaited<ReturnType<ReturnType<typeof stackFolder>['start']>>;
  us: Awaited<ReturnType<typeof journeyAccount>>;
  /** A webhook whose receiver works, and one whose receiver fails. */
  webhookId: string;
  failingId: string;
  /** A connection whose history is being loaded, and one whose credential is refused. */
  pulledId: string;
  refusedId: string;
  /** Tests a credential in the form of a new connection: `samsara_api_made_up_3` is a good one. */
  testCredential: (credential: string) => Promise<void>;
  stop: () => Promise<void>;
};

/** Starts a showcase. Its receivers are called for the newest records only. */
export async function startShowcase(): Promise<Showcase> {
  const folder = stackFolder();
  const [stack, browser] = await Promise.all([folder.start(), launchBrowser()]);
  const us = await journeyAccount(stack, { account: 'Quillmoor Freight', connection: 'Line haul' });
  await fleetJson(stack, 'user', 'add', 'ann@example.com', '--account', us.accountId);
  let delivered = 0;
  let refused = 0;
  const receiver = await startReceiver(stack.certificates, 0, ({ path }, response) => {
    if (path !== '/dispatch') delivered++;
    else if (refused++ < 2) response.writeHead(410).end('This board has moved');
    else response.writeHead(503).end('Down for maintenance');
  });
  const { fleet: vehicles, events, accidents } = showcaseRecords(Date.now());
  const send = async (part: object[], notify: boolean) => {
    const { data } = await api<{ rejected: object[] }>(stack, us.ingestKey, 'POST', '/ingest', {
      records: part,
      notify,
    });
    if (data.rejected.length > 0) throw new Error(JSON.stringify(data.rejected[0]));
  };
  await send(vehicles, false);
  const webhook = (path: string, notificationTypes: number[]) =>
    addWebhook(stack, us, receiver.url + path, { headers: { 'X-Secret': 's3cret' }, notificationTypes });
  const working = await webhook('/claims', [1, 2]);
  const failing = await webhook('/dispatch', [2]);
  for (let from = 40; from < events.length; from += 400) await send(events.slice(from, from + 400), false);
  await send([...events.slice(0, 40), ...accidents], true);
  const story = accidentStory(Date.now());
  await send(story.before, true);
  for (const level of story.levels) await send([level], true);
  await until('the working receiver has got all', () => delivered >= 40);
  await furnish(stack, us.accountId);
  for (let run = 0; run < 3; run++) await stack.minute(); // counts what has happened before
  const page = await (await browser.newContext({ timezoneId: 'America/New_York' })).newPage();
  await page.goto((await fleet(stack, 'sign-in-link', 'ann@example.com')).out.trim());
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${stack.baseUrl}/portal`);
  for (const [id, name] of [
    [working, 'Claims intake'],
    [failing, 'Dispatch board'],
  ]) {
    await page.goto(`${stack.baseUrl}/portal/webhooks/${id}/edit`);
    await page.getByLabel('Name', { exact: true }).fill(name ?? '');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.waitForURL(`${stack.baseUrl}/portal/webhooks/${id}`);
  }
  const { provider, ...connected } = await connectProviders(stack, page);
  countEarlierHours(folder.directory, working);
  return {
    ...{ page, browser, stack, us, webhookId: working, failingId: failing, ...connected },
    stop: async () => {
      await browser.close();
      provider.stop();
      receiver.stop();
      await stack.stop();
      folder.remove();
    },
  };
}
