import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { Pull } from '../../operator/api/connections.ts';
import { ApiError, type Item } from './client.ts';
import { about, group, within } from './command.ts';
import { deleteConnectionCommand } from './delete.ts';
import { type Column, rowsOf } from './print.ts';

const columns: Column<Item<'PATCH /connections/:id'>>[] = [
  'id',
  'name',
  'externalId',
  'provider',
  'tSP',
  'healthStatus',
  'lastPulledAt',
  'createdAt',
];

export const connectionCommands = (): Command =>
  group('connection', 'manage connections: the data sources of an account', [
    within('create', 'create a connection', 'POST /accounts/:id/connections', columns, async (given) => {
      const { tsp: tSP, incidentTypes: incidentTypeMap, credential, ...rest } = given;
      return { tSP, incidentTypeMap, credential: credential && (await secretFrom(credential)), ...rest };
    })
      .requiredOption('--provider <name>', 'samsara, motive, terminal, otapi, geotab or another')
      .option('--name <name>', 'name of the connection')
      .option('--tsp <name>', "provider's name in deliveries, for a provider that is not built in")
      .option('--incident-types <file>', typesFile, readJson)
      .option('--credential <text>', 'pull from the provider with this credential; - reads it from stdin')
      .option('--base-url <url>', "address of the provider's API, or the name of a region: eu, ca")
      .option('--history-days <days>', 'days of history to load first (90)', Number),
    about('update', 'change a connection', 'PATCH /connections/:id', columns, (given) => {
      const { tsp: tSP, health: healthStatus, incidentTypes: incidentTypeMap, ...rest } = given;
      return { tSP, healthStatus, incidentTypeMap, ...withOwnId(rest) };
    })
      .option('--name <name>', 'name of the connection')
      .option('--tsp <name>', "provider's name in deliveries")
      .option('--health <status>', 'health status: 1 healthy, 2 warning, 3 unavailable or 4 degraded', Number)
      .option('--incident-types <file>', typesFile, readJson)
      .option('--external-id <id>', ownId),
    about('rename', 'rename a connection', 'PATCH /connections/:id', columns).argument(
      '<name>',
      'its new name',
    ),
    within('list', 'list the connections of an account', 'GET /accounts/:id/connections', columns),
    about(
      'repair-archive',
      'compare a day of the archive with its files, and repair its catalog with --apply',
      'POST /connections/:id/archive/repair',
      [
        ['catalog', ({ catalog }) => inWords(catalog)],
        ['bucket', ({ bucket }) => inWords(bucket)],
        'applied',
      ],
    )
      .requiredOption('--kind <kind>', 'trips, safety-events or accidents')
      .requiredOption('--date <date>', 'day, UTC, as in the key of the file: 2026-05-31')
      .option('--apply', 'make the catalog name the files that exist'),
    about(
      'status',
      'show how a connection that pulls from its provider is doing',
      'GET /connections/:id/pull',
      pullTables,
    ),
    about('pause', 'stop pulling until the connection is resumed', 'POST /connections/:id/pause', pullTables),
    about(
      'resume',
      'resume pulling where the connection stopped',
      'POST /connections/:id/resume',
      pullTables,
    ),
    about('pull', 'pull now, ignoring any wait', 'POST /connections/:id/pull', pullTables),
    about(
      'credential',
      'replace the credential, which is read from stdin; it is tried first',
      'PUT /connections/:id/credential',
      pullTables,
      async ({ id }) => ({ id, credential: await secretFrom('-') }),
    ),
    about(
      'webhook-secret',
      "save the secret of the provider's webhook, which is read from stdin",
      'PUT /connections/:id/webhook-secret',
      pullTables,
      async ({ id }) => ({ id, secret: await secretFrom('-') }),
    ),
    deleteConnectionCommand(),
  ]);

export const connectLinkCommands = (): Command =>
  group('connect-link', 'manage links by which somebody outside the account connects a provider', [
    within(
      'create',
      'create a single-use link, whose URL is shown only once',
      'POST /accounts/:id/connect-links',
      ['url', 'expiresAt', 'id'],
    ).requiredOption('--name <name>', 'whom it is for'),
    within('list', 'list the links of an account', 'GET /accounts/:id/connect-links', linkColumns),
    about('revoke', 'revoke a link that is not used yet', 'DELETE /connect-links/:id', linkColumns),
  ]);

const linkColumns: Column<Item<'DELETE /connect-links/:id'>>[] = [
  'id',
  'name',
  'createdAt',
  'expiresAt',
  'connectionId',
  'withdrawnAt',
];

export const vehicleCommands = (): Command =>
  group('vehicle', 'set the external ids of vehicles', [
    about(
      'update',
      'change a vehicle',
      'PATCH /vehicles/:id',
      ['id', 'name', 'vin', 'externalId', 'connectionId'],
      withOwnId,
    ).requiredOption('--external-id <id>', ownId),
  ]);

const ownId = "the account's own identifier; an empty one removes it";
const withOwnId = ({ externalId, ...rest }: { externalId?: string }) => ({
  ...rest,
  externalId: externalId === '' ? null : externalId,
});

const typesFile = "JSON file that maps the provider's terms to normalised incident types";

function readJson(file: string) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ApiError(`Cannot read ${file} as JSON: ${error instanceof Error ? error.message : error}`);
  }
}

/** A secret given as `-` is read from stdin, where neither the shell's history nor other users see it. */
export const secretFrom = async (given: string): Promise<string> =>
  given === '-' ? (await text(process.stdin)).trim() : given;

const inWords = ({ files, records }: { files: number; records: number }): string =>
  `${files} files, ${records} records`;

const pullTables = (pull: Pull): string =>
  [
    rowsOf(
      [pull],
      [
        'provider',
        'organisation',
        'baseUrl',
        ['state', ({ state, isWithdrawn }) => (isWithdrawn ? 'consent withdrawn' : state)],
        'lastPulledAt',
      ],
    ),
    rowsOf(pull.feeds, [
      'feed',
      ['every', ({ everyMinutes }) => (everyMinutes === 1 ? 'minute' : `${everyMinutes} minutes`)],
      ['problem', ({ problem }) => problem?.advice ?? 'none'],
      ['since', ({ problem }) => problem?.since],
      ['next try', ({ problem }) => problem?.nextAt],
      ['history', ({ history }) => history && historyOf(history)],
      ['done by', ({ history }) => history?.endsAt],
    ]),
    ...(pull.refusals.length > 0
      ? [rowsOf(pull.refusals, [['refused', 'at'], 'kind', 'sourceId', 'reason'])]
      : []),
    ...(pull.unmapped.length > 0
      ? [
          rowsOf(pull.unmapped, [
            ['word that nothing maps', 'word'],
            ['events', 'count'],
          ]),
        ]
      : []),
  ].join('\n');

function historyOf({
  share,
  records,
  recordsPerMinute,
}: NonNullable<Pull['feeds'][number]['history']>): string {
  const rate = recordsPerMinute === null ? '' : `, ${recordsPerMinute} a minute`;
  return `${Math.floor(share * 100)} %, ${records} records${rate}`;
}
