import { Command } from 'commander';
import { maxFailedCounted, maxListed, maxPendingCounted } from '../../operator/api/counted.ts';
import type { HomeHealth, ServiceLevel, StatusReport } from '../../operator/api/service.ts';
import { waitInWords } from '../../webhooks/deliveries/latency.ts';
import { operatorFor } from './context.ts';
import { print, tableOf } from './print.ts';

type Failing = StatusReport['failing'][number];

/** fleet status */
export function statusCommand(): Command {
  return new Command('status')
    .description('show the health of the service, which webhooks fail, and which connections')
    .action(async (_, command) => {
      print(command, await operatorFor(command).get('/status'), (status) =>
        [
          overview(status),
          ...homes(status.health.homes ?? {}),
          levels(status.serviceLevels),
          ...accidents(status.accidents),
          failures(status.failing),
          ...pauses(status.paused),
          ...ailing(status.connections),
          ...rotation(status.headerKeys),
        ].join('\n'),
      );
    });
}

function overview(status: StatusReport): string {
  const { problem, warning, health, pending, due, later, oldestPendingAt } = status;
  const since = health.oldestDueSeconds === null ? '' : `, the oldest for ${health.oldestDueSeconds} s`;
  return tableOf([
    ['service', problem ?? warning ?? 'healthy'],
    ['fails now', failsNow(status)],
    ['database', health.size ? fullness(health.size) : 'unknown'],
    ['queue backlog', health.queueBacklog ?? 'unknown'],
    ['pending', counted(pending, maxPendingCounted)],
    ['due now', `${counted(due, maxPendingCounted)}${since}`],
    ['due later', counted(later, maxPendingCounted)],
    ['oldest pending', oldestPendingAt],
  ]);
}

/** What needs somebody now; without what has failed in the last day and works again. */
function failsNow({ accidents, failing, connections }: StatusReport): string {
  const webhooks = failing.filter(({ failures }) => failures > 0);
  const found = [
    accidents.length > 0 && `accidents that wait: ${counted(accidents.length, maxListed)}`,
    webhooks.length > 0 && `webhooks: ${counted(webhooks.length, maxListed)}`,
    connections.length > 0 && `connections: ${counted(connections.length, maxListed)}`,
  ];
  return found.filter(Boolean).join(', ') || 'nothing';
}

/** Accidents that have not been delivered for half a minute, the oldest first; nothing when there are none. */
function accidents(waiting: StatusReport['accidents']): string[] {
  if (waiting.length === 0) return [];
  const rows = waiting.map((one) => [
    one.account,
    one.deliveryId,
    one.level,
    one.createdAt,
    one.attempts,
    one.nextAttemptAt,
  ]);
  return [tableOf(rows, ['account', 'accident that waits', 'level', 'since', 'attempts', 'next attempt'])];
}

/** How far the rotation of HEADER_KEYS has come; nothing while one key has encrypted everything. */
function rotation(keys: StatusReport['headerKeys']): string[] {
  if (keys.length < 2) return [];
  const rows = keys.map(({ key, encrypts, known, newest }) => [
    key,
    encrypts,
    newest ? 'encrypts' : !known ? 'missing: put it back' : encrypts > 0 ? 'still needed' : 'can be removed',
  ]);
  return [tableOf(rows, ['key of HEADER_KEYS', 'encrypted with it', ''])];
}

/** How long deliveries took, from their receipt. */
function levels({ day, month }: StatusReport['serviceLevels']): string {
  const row = (name: string, { count, inTime, firstAttempt, delivered }: ServiceLevel) => {
    const times = ({ p50, p95, p99 }: typeof delivered) =>
      count === 0 ? null : [p50, p95, p99].map(waitInWords).join(' / ');
    const share = inTime === null ? null : `${Math.floor(inTime * 1000) / 10} %`;
    return [name, count, share, times(firstAttempt), times(delivered)];
  };
  return tableOf(
    [
      row('accidents, 24 h', day.accidents),
      row('accidents, 30 days', month.accidents),
      row('events, 24 h', day.events),
      row('events, 30 days', month.events),
    ],
    ['deliveries', 'count', 'attempted in 5 s', 'first attempt, p50 / p95 / p99', 'success, p50 / p95 / p99'],
  );
}

/** Each home, if there are several. */
function homes(all: { [name: string]: HomeHealth }): string[] {
  const rows = Object.entries(all).map(([name, { database, size, queueBacklog, oldestDueSeconds }]) => [
    name,
    database,
    size ? fullness(size) : 'unknown',
    queueBacklog ?? 'unknown',
    oldestDueSeconds,
  ]);
  const columns = ['home', 'database', 'size', 'queue backlog', 'oldest due, seconds'];
  return rows.length > 0 ? [tableOf(rows, columns)] : [];
}

/** How full the database is, and when it will be full. */
function fullness({ bytes, share, daysLeft }: NonNullable<HomeHealth['size']>): string {
  const gigabytes = (bytes / 1e9).toFixed(2);
  const left = daysLeft === null ? 'not growing' : `full in ${daysLeft} days at this rate`;
  return `${gigabytes} of 10 GB (${Math.round(share * 100)} %), ${left}`;
}

/** Failures by webhook, with bars in proportion to the worst: attempts that are repeated count as well. */
function failures(failing: Failing[]): string {
  if (failing.length === 0) return 'No webhook is failing.';
  const worst = Math.max(...failing.map(({ failedAttempts }) => failedAttempts), 1);
  const rows = failing.map((webhook) => [
    webhook.account,
    webhook.webhookId,
    webhook.failedAttempts,
    bar(webhook.failedAttempts / worst),
    counted(webhook.failed, maxFailedCounted),
    counted(webhook.retrying, maxFailedCounted),
    webhook.failures || 'works again',
    webhook.lastFailure?.status ?? webhook.lastFailure?.kind ?? null,
    webhook.nextAttemptAt ?? webhook.openUntil,
  ]);
  return tableOf(rows, [
    'account',
    'webhook',
    'failed attempts in 24 h',
    '',
    'given up',
    'retrying',
    'in a row',
    'last error',
    'next attempt',
  ]);
}

/** Webhooks whose users are notified of it by email; nothing when there are none. */
function pauses(paused: StatusReport['paused']): string[] {
  if (paused.length === 0) return [];
  const rows = paused.map(({ account, webhookId, pausedSince }) => [account, webhookId, pausedSince]);
  return [tableOf(rows, ['account', 'webhook', 'paused for over 15 minutes, since'])];
}

/** Connections that are not healthy; nothing when there are none. */
function ailing(connections: StatusReport['connections']): string[] {
  if (connections.length === 0) return [];
  const rows = connections.map(({ account, connectionId, name, healthStatus, lastPulledAt }) => [
    account,
    connectionId,
    name,
    healthWords[healthStatus] ?? healthStatus,
    lastPulledAt,
  ]);
  return [tableOf(rows, ['account', 'connection', 'name', 'health', 'last pulled'])];
}

const healthWords: { [status: number]: string } = { 2: 'warning', 3: 'unavailable', 4: 'degraded' };

const counted = (count: number, max: number): string => (count < max ? `${count}` : `${max}+`);

const barWidth = 20;
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar for a share from 0 to 1, to an eighth of a character. */
function bar(share: number): string {
  const length = Math.round(share * barWidth * 8);
  return '█'.repeat(Math.floor(length / 8)) + (eighths[length % 8] ?? '');
}
