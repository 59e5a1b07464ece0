import type { Command } from 'commander';
import { maxFailedCounted, maxListed, maxPendingCounted } from '../../operator/api/counted.ts';
import type { HeaderKey, HomeHealth, ServiceLevel, StatusReport } from '../../operator/api/service.ts';
import { waitInWords } from '../../webhooks/latency.ts';
import { calling } from './command.ts';
import { type Column, rowsOf, tableOf } from './print.ts';

export const statusCommand = (): Command =>
  calling(
    'status',
    'show the health of the service, and which webhooks and connections fail',
    'GET /status',
    (status) =>
      [
        overview(status),
        ...some(Object.entries(status.health.homes ?? {}), [
          ['home', ([name]) => name],
          ['database', ([, { database }]) => database],
          ['size', ([, { size }]) => (size ? fullness(size) : 'unknown')],
          ['queue backlog', ([, { queueBacklog }]) => queueBacklog ?? 'unknown'],
          ['oldest due, seconds', ([, { oldestDueSeconds }]) => oldestDueSeconds],
        ]),
        levels(status.serviceLevels),
        ...some(status.accidents, [
          'account',
          ['accident that waits', 'deliveryId'],
          'level',
          ['since', 'createdAt'],
          'attempts',
          ['next attempt', 'nextAttemptAt'],
        ]),
        failures(status.failing),
        ...some(status.paused, [
          'account',
          ['webhook', 'webhookId'],
          ['paused for over 15 minutes, since', 'pausedSince'],
        ]),
        ...some(status.connections, [
          'account',
          ['connection', 'connectionId'],
          'name',
          ['health', ({ healthStatus }) => healthWords[healthStatus] ?? healthStatus],
          ['last pulled', 'lastPulledAt'],
        ]),
        // One key has encrypted everything, unless keys are being rotated.
        ...some(status.headerKeys.length > 1 ? status.headerKeys : [], [
          ['key of HEADER_KEYS', 'key'],
          ['encrypted with it', 'encrypts'],
          ['', useOf],
        ]),
      ].join('\n'),
  );

const some = <T>(items: T[], columns: Column<T>[]): string[] =>
  items.length > 0 ? [rowsOf(items, columns)] : [];

function overview(status: StatusReport): string {
  const { problem, warning, health, pending, due, later, oldestPendingAt } = status;
  const since = health.oldestDueSeconds === null ? '' : `, the oldest for ${health.oldestDueSeconds} s`;
  return tableOf([
    ['service', problem ?? warning ?? 'healthy'],
    ['fails now', failsNow(status)],
    ['database', health.size ? fullness(health.size) : 'unknown'],
    ['queue backlog', health.queueBacklog ?? 'unknown'],
    ['pending', cappedCount(pending, maxPendingCounted)],
    ['due now', `${cappedCount(due, maxPendingCounted)}${since}`],
    ['due later', cappedCount(later, maxPendingCounted)],
    ['oldest pending', oldestPendingAt],
  ]);
}

/** What needs attention now; without what has failed in the last day and works again. */
function failsNow({ accidents, failing, connections }: StatusReport): string {
  const webhooks = failing.filter(({ failures }) => failures > 0);
  const found = [
    accidents.length > 0 && `accidents that wait: ${cappedCount(accidents.length, maxListed)}`,
    webhooks.length > 0 && `webhooks: ${cappedCount(webhooks.length, maxListed)}`,
    connections.length > 0 && `connections: ${cappedCount(connections.length, maxListed)}`,
  ];
  return found.filter(Boolean).join(', ') || 'nothing';
}

/** What a key is still used for. */
function useOf({ encrypts, known, newest }: HeaderKey): string {
  if (newest) return 'encrypts';
  if (!known) return 'missing: put it back';
  return encrypts > 0 ? 'still needed' : 'can be removed';
}

/** How long deliveries took, from their receipt. */
function levels({ day, month }: StatusReport['serviceLevels']): string {
  const times = ({ count }: ServiceLevel, { p50, p95, p99 }: ServiceLevel['delivered']) =>
    count === 0 ? null : [p50, p95, p99].map(waitInWords).join(' / ');
  return rowsOf(
    [
      { deliveries: 'accidents, 24 h', ...day.accidents },
      { deliveries: 'accidents, 30 days', ...month.accidents },
      { deliveries: 'events, 24 h', ...day.events },
      { deliveries: 'events, 30 days', ...month.events },
    ],
    [
      'deliveries',
      'count',
      ['attempted in 5 s', ({ inTime }) => (inTime === null ? null : `${Math.floor(inTime * 1000) / 10} %`)],
      ['first attempt, p50 / p95 / p99', (level) => times(level, level.firstAttempt)],
      ['success, p50 / p95 / p99', (level) => times(level, level.delivered)],
    ],
  );
}

/** How full the database is, and when it will be full. */
function fullness({ bytes, share, daysLeft }: NonNullable<HomeHealth['size']>): string {
  const gigabytes = (bytes / 1e9).toFixed(2);
  const left = daysLeft === null ? 'not growing' : `full in ${daysLeft} days at this rate`;
  return `${gigabytes} of 10 GB (${Math.round(share * 100)} %), ${left}`;
}

/** Failures by webhook, with bars in proportion to the worst, including attempts that are repeated. */
function failures(failing: StatusReport['failing']): string {
  if (failing.length === 0) return 'No webhook is failing.';
  const worst = Math.max(...failing.map(({ failedAttempts }) => failedAttempts), 1);
  return rowsOf(failing, [
    'account',
    ['webhook', 'webhookId'],
    ['failed attempts in 24 h', 'failedAttempts'],
    ['', ({ failedAttempts }) => bar(failedAttempts / worst)],
    ['given up', ({ failed }) => cappedCount(failed, maxFailedCounted)],
    ['retrying', ({ retrying }) => cappedCount(retrying, maxFailedCounted)],
    ['in a row', ({ failures }) => failures || 'works again'],
    ['last error', ({ lastFailure }) => lastFailure?.status ?? lastFailure?.kind],
    ['next attempt', ({ nextAttemptAt, openUntil }) => nextAttemptAt ?? openUntil],
  ]);
}

const healthWords: { [status: number]: string } = { 2: 'warning', 3: 'unavailable', 4: 'degraded' };

const cappedCount = (count: number, max: number): string => (count < max ? `${count}` : `${max}+`);

const barWidth = 20;
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

function bar(share: number): string {
  const length = Math.round(share * barWidth * 8);
  return '█'.repeat(Math.floor(length / 8)) + (eighths[length % 8] ?? '');
}
