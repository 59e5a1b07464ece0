import { Command } from 'commander';
import { operatorFor } from './context.ts';
import { printableJson } from './printable.ts';
import { tableOf } from './table.ts';

type Failing = {
  account: string;
  webhookId: string;
  failed: number;
  failures: number;
  openUntil: string | null;
  /** A service from before attempts were counted leaves these out. */
  failedAttempts?: number;
  retrying?: number;
  lastFailure?: { kind: string; status: number | null } | null;
  nextAttemptAt?: string | null;
};
type Paused = { account: string; webhookId: string; pausedSince: string };
type Ailing = {
  account: string;
  connectionId: string;
  name: string;
  healthStatus: number;
  lastPulledAt: string | null;
};
type Health = {
  database: string;
  queueBacklog: number | null;
  oldestDueSeconds: number | null;
  size?: { bytes: number; share: number; daysLeft: number | null } | null;
};
type Status = {
  problem: string | null;
  /** A service from before there was an archive leaves these out. */
  warning?: string | null;
  /** Only a service with several homes has `homes`. */
  health: Health & { homes?: { [name: string]: Health } };
  pending: number;
  due: number;
  later: number;
  oldestPendingAt: string | null;
  failing: Failing[];
  /** A service from before there were alerts leaves it out. */
  paused?: Paused[];
  /** A service from before connections could pull leaves it out. */
  connections?: Ailing[];
};

/** The service stops counting here: such a count stands for itself or more. */
const maxPending = 10_000;
const maxFailed = 100;

/** fleet status */
export function statusCommand(): Command {
  return new Command('status')
    .description('show the health of the service, which webhooks fail, and which connections')
    .action(async (_, command) => {
      const status = await operatorFor(command).get<Status>('/status');
      if (command.optsWithGlobals().json) console.log(printableJson(status));
      else
        console.log(
          [
            overview(status),
            ...homes(status.health.homes ?? {}),
            failures(status.failing),
            ...pauses(status.paused ?? []),
            ...ailing(status.connections ?? []),
          ].join('\n'),
        );
    });
}

function overview({ problem, warning, health, pending, due, later, oldestPendingAt }: Status): string {
  const since = health.oldestDueSeconds === null ? '' : `, the oldest for ${health.oldestDueSeconds} s`;
  return tableOf([
    ['service', problem ?? warning ?? 'healthy'],
    ['database', health.size ? fullness(health.size) : 'unknown'],
    ['queue backlog', health.queueBacklog ?? 'unknown'],
    ['pending', counted(pending, maxPending)],
    ['due now', `${counted(due, maxPending)}${since}`],
    ['due later', counted(later, maxPending)],
    ['oldest pending', oldestPendingAt],
  ]);
}

/** Each home, if there are several. */
function homes(all: { [name: string]: Health }): string[] {
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
function fullness({
  bytes,
  share,
  daysLeft,
}: {
  bytes: number;
  share: number;
  daysLeft: number | null;
}): string {
  const gigabytes = (bytes / 1e9).toFixed(2);
  const left = daysLeft === null ? 'not growing' : `full in ${daysLeft} days at this rate`;
  return `${gigabytes} of 10 GB (${Math.round(share * 100)} %), ${left}`;
}

/** Failures by webhook, with bars in proportion to the worst: attempts that are repeated count as well. */
function failures(failing: Failing[]): string {
  if (failing.length === 0) return 'No webhook is failing.';
  const worst = Math.max(...failing.map(attemptsOf), 1);
  const rows = failing.map((webhook) => [
    webhook.account,
    webhook.webhookId,
    attemptsOf(webhook),
    bar(attemptsOf(webhook) / worst),
    counted(webhook.failed, maxFailed),
    counted(webhook.retrying ?? 0, maxFailed),
    webhook.failures,
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

const attemptsOf = ({ failedAttempts, failed }: Failing): number => failedAttempts ?? failed;

/** Webhooks whose people are told of it by email; nothing when there are none. */
function pauses(paused: Paused[]): string[] {
  if (paused.length === 0) return [];
  const rows = paused.map(({ account, webhookId, pausedSince }) => [account, webhookId, pausedSince]);
  return [tableOf(rows, ['account', 'webhook', 'paused for over 15 minutes, since'])];
}

/** Connections that are not healthy; nothing when there are none. */
function ailing(connections: Ailing[]): string[] {
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
