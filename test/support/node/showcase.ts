import type { Browser, Page } from 'playwright-core';
import { startReceiver } from '../../../src/cli/local/receiver.ts';
import { launchBrowser } from './browser.ts';
import { api, fleet, fleetJson, journeyAccount, stackFolder, until } from './journey.ts';

const dayMs = 86_400_000;
const words = [
  'Braking',
  'MobileUsage',
  'Crash',
  'FollowingDistance',
  'HarshTurn',
  'Drowsy',
  'LightSpeeding',
];
const drivers = ['Imke Sandell', 'Teo Varga', 'Joss Arden', 'Petra Lindqvist', 'Odell Farrow', 'Ruan Meyer'];
const iso = (at: number) => new Date(at).toISOString();

/** Two months of a small fleet, up to `now`: the same each time. */
function records(now: number): object[] {
  const vehicles = Array.from({ length: 24 }, (_, i) => ({
    kind: 'vehicle',
    sourceId: `v${i}`,
    name: `${i % 3 ? 'Truck' : 'Van'} ${100 + 7 * i}`,
    vin: `1FUJGLDR5CLBP8${String(i).padStart(3, '0')}`,
    groups: [i % 2 ? 'Line haul' : 'City'],
    make: 'Freightliner',
    model: 'Cascadia',
    year: 2020 + (i % 5),
    licensePlate: `ZKT-${1000 + i}`,
    odometerKm: 90_000 + 7777 * i,
    lastLocation: {
      latitude: 40 + (i % 7) / 5,
      longitude: -77 + (i % 9) / 4,
      timestamp: iso(now - i * 60_000),
    },
  }));
  const people = drivers.map((name, i) => ({
    kind: 'driver',
    sourceId: `d${i}`,
    name,
    email: `${name.split(' ')[0]?.toLowerCase()}@quillmoor.example`,
    licenseState: 'PA',
  }));
  const place = (i: number) => ({
    latitude: 39.9 + ((i * 37) % 100) / 80,
    longitude: -78 + ((i * 53) % 100) / 40,
  });
  const trips = Array.from({ length: 60 }, (_, i) => ({
    kind: 'trip',
    sourceId: `t${i}`,
    vehicle: `v${i % 24}`,
    driver: `d${i % 6}`,
    startedAt: iso(now - i * 0.9 * dayMs - 7_200_000),
    endedAt: iso(now - i * 0.9 * dayMs - 600_000),
    startLocation: place(i),
    endLocation: place(i + 3),
    distanceKm: 60 + (i % 9) * 12,
    durationSeconds: 6600,
  }));
  const events = Array.from({ length: 500 }, (_, i) => ({
    kind: 'safetyEvent',
    sourceId: `e${i}`,
    vehicle: `v${(i * i) % 24}`,
    ...(i % 5 && { driver: `d${i % 6}` }),
    ...(i < 60 && { trip: `t${i}` }),
    incidentTypes: [words[(i * 3 + (i % 4)) % words.length]],
    startedAt: iso(now - Math.floor((i * (60 * dayMs)) / 500) - (i % 7) * 400_000),
    location: place(i),
    maxSpeedKph: 40 + (i % 8) * 10,
    speedLimitKph: 80,
  }));
  const accidents = [1, 2, 3, 2].map((notificationLevel, i) => ({
    kind: 'accident',
    sourceId: `a${i}`,
    vin: `1FUJGLDR5CLBP8${String(3 * i + 1).padStart(3, '0')}`,
    eventTime: iso(now - i * 5_000_000 - 900_000),
    location: place(i),
    notificationLevel,
    ...(notificationLevel === 3 && { reportUrl: 'https://reports.example.com/crash' }),
    ...(i === 3 && { dismissed: true }),
  }));
  return [...vehicles, ...people, ...trips, ...events, ...accidents];
}

/** An accident through its three levels, one after the other, and what its vehicle did before it. */
function accidentStory(now: number): { before: object[]; levels: object[] } {
  const at = (minutesBefore: number) => iso(now - 2_400_000 - minutesBefore * 60_000);
  const on = { vehicle: 'v6', driver: 'd2', trip: 'story' };
  const event = (sourceId: string, minutesBefore: number, word: string, speed: number) => ({
    ...{ kind: 'safetyEvent', sourceId, ...on, incidentTypes: [word], startedAt: at(minutesBefore) },
    location: { latitude: 40.215 - minutesBefore / 250, longitude: -77.189 - minutesBefore / 160 },
    ...{ maxSpeedKph: speed, speedLimitKph: 105 },
  });
  const level = (notificationLevel: number) => ({
    ...{ kind: 'accident', sourceId: 'story', vin: '1FUJGLDR5CLBP8006', eventTime: at(0), notificationLevel },
    location: { latitude: 40.21502, longitude: -77.18934 },
    ...(notificationLevel === 3 && { reportUrl: 'https://reports.example.com/crash-114' }),
  });
  return {
    before: [
      { kind: 'trip', sourceId: 'story', vehicle: 'v6', driver: 'd2', startedAt: at(104), distanceKm: 50 },
      event('s1', 56, 'LightSpeeding', 119),
      event('s2', 27, 'FollowingDistance', 98),
      event('s3', 11, 'MobileUsage', 104),
      event('s4', 1, 'Braking', 98),
    ],
    levels: [level(1), level(2), level(3)],
  };
}

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
  stop: () => Promise<void>;
};

/** Starts a showcase. Its receivers are called for the newest records only. */
export async function startShowcase(): Promise<Showcase> {
  const folder = stackFolder();
  const [stack, browser] = await Promise.all([folder.start(), launchBrowser()]);
  const us = await journeyAccount(stack);
  await fleetJson(stack, 'user', 'add', 'ann@example.com', '--account', us.accountId);
  let delivered = 0;
  let refused = 0;
  const receiver = await startReceiver(stack.certificates, 0, ({ path }, response) => {
    if (path !== '/dispatch') delivered++;
    else if (refused++ < 2) response.writeHead(410).end('This board has moved');
    else response.writeHead(503).end('Down for maintenance');
  });
  const all = records(Date.now());
  const send = async (part: object[], notify: boolean) => {
    const { data } = await api<{ rejected: object[] }>(stack, us.ingestKey, 'POST', '/ingest', {
      records: part,
      notify,
    });
    if (data.rejected.length > 0) throw new Error(JSON.stringify(data.rejected[0]));
  };
  const [old, recent] = [all.slice(0, 90), all.slice(90)];
  await send(old, false);
  const webhook = (path: string, notificationTypes: number[]) =>
    api<{ id: string }>(stack, us.token, 'POST', '/webhook', {
      connectionIds: [us.connectionId],
      url: receiver.url + path,
      httpVerb: 'POST',
      headers: { 'X-Secret': 's3cret' },
      notificationTypes,
    });
  const { data: working } = await webhook('/claims', [1, 2]);
  const { data: failing } = await webhook('/dispatch', [2]);
  const [told, silent] = [[...recent.slice(0, 40), ...recent.slice(-4)], recent.slice(40, -4)];
  await send(silent.slice(0, 300), false);
  await send(silent.slice(300), false);
  await send(told, true);
  const story = accidentStory(Date.now());
  await send(story.before, true);
  for (const level of story.levels) await send([level], true);
  await until('the working receiver has got all', () => delivered >= 40);
  const chain = await fleetJson<{ id: string }>(
    stack,
    ...['connection', 'create', '--account', us.accountId, '--provider', 'samsara', '--name', 'Cold chain'],
  );
  await fleet(stack, 'connection', 'update', chain.id, '--health', '3');
  await furnish(stack, us.accountId);
  for (let run = 0; run < 3; run++) await stack.minute(); // counts what has happened before
  const page = await (await browser.newContext()).newPage();
  await page.goto((await fleet(stack, 'sign-in-link', 'ann@example.com')).out.trim());
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${stack.baseUrl}/portal`);
  for (const [id, name] of [
    [working.id, 'Claims intake'],
    [failing.id, 'Dispatch board'],
  ]) {
    await page.goto(`${stack.baseUrl}/portal/webhooks/${id}/edit`);
    await page.getByLabel('Name', { exact: true }).fill(name ?? '');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.waitForURL(`${stack.baseUrl}/portal/webhooks/${id}`);
  }
  return {
    ...{ page, browser, stack, us, webhookId: working.id, failingId: failing.id },
    stop: async () => {
      await browser.close();
      receiver.stop();
      await stack.stop();
      folder.remove();
    },
  };
}
