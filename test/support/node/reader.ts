import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { clientDirectory } from '#src/cli/client/build.ts';
import { root } from '#src/cli/project/paths.ts';
import { temporaryFolder } from './folder.ts';
import { api, sharedAccount } from './journey.ts';
import { needPython, samplesIn } from './samples.ts';

/** The vehicles that a reader of the guides finds. */
export const vehicles = ['A', 'B', 'C', 'D', 'E'].map((letter) => ({
  kind: 'vehicle',
  sourceId: letter,
  name: `Truck ${letter}`,
  vin: `1FUJGLDR5CLBP883${letter}`,
}));

/** A safety event of the first of them. */
export const event = (sourceId: string, minutesAgo: number) => ({
  kind: 'safetyEvent',
  sourceId,
  vehicle: 'A',
  incidentTypes: ['Braking'],
  startedAt: new Date(Date.now() - minutesAgo * 60_000).toISOString(),
});

/** A reader of the guides, with an account, a fleet, the samples in a folder, and settings. */
export async function startReader() {
  needPython();
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules')); // what the guides have installed
  symlinkSync(
    join(root, 'node_modules/standardwebhooks'),
    join(folder, 'node_modules/standardwebhooks'),
  );
  symlinkSync(clientDirectory, join(folder, 'node_modules/fleet-data-client'));
  const { stack, us } = await sharedAccount();
  /** Sends in records as the provider's connector; `notify: false` tells nobody. */
  const sendIn = (records: object[], notify = true) =>
    api(stack, us.ingestKey, 'POST', '/ingest', { records, notify });
  await sendIn(vehicles);
  const samples = samplesIn(folder);
  afterAll(samples.stopAll);
  return {
    ...{ ...samples, stack, us, folder, sendIn },
    settings: { BASE_URL: stack.baseUrl, TOKEN: us.token, CONNECTION_ID: us.connectionId },
    /** A folder to run samples in that keep files. */
    folderFor: (name: string): string => {
      mkdirSync(join(folder, name));
      return join(folder, name);
    },
  };
}

/** What a sample has kept in a file of one JSON value a line. */
export const kept = (...path: string[]): { id: string; sourceId?: string }[] =>
  readFileSync(join(...path), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
