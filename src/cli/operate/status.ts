import Table from 'cli-table3';
import { Command } from 'commander';
import { operatorFor } from './context.ts';

type Failing = {
  account: string;
  webhookId: string;
  failed: number;
  failures: number;
  openUntil: string | null;
};
type Status = {
  problem: string | null;
  health: { database: string; queueBacklog: number | null; oldestDueSeconds: number | null };
  pending: number;
  due: number;
  later: number;
  oldestPendingAt: string | null;
  failing: Failing[];
};

/** Where the service stops counting: what has come so far is that many or more. */
const mostPending = 10_000;
const mostFailed = 100;

/** fleet status */
export function statusCommand(): Command {
  return new Command('status')
    .description('how the service is doing, and whose deliveries fail')
    .action(async (_, command) => {
      const status = await operatorFor(command).get<Status>('/status');
      if (command.optsWithGlobals().json) console.log(JSON.stringify(status, null, 2));
      else console.log(`${overview(status)}\n${failures(status.failing)}`);
    });
}

function overview({ problem, health, pending, due, later, oldestPendingAt }: Status): string {
  const table = new Table({ style: { head: [], border: [] } });
  const since = health.oldestDueSeconds === null ? '' : `, the oldest for ${health.oldestDueSeconds} s`;
  table.push(
    ['service', problem ?? 'healthy'],
    ['queue backlog', health.queueBacklog ?? 'unknown'],
    ['pending', counted(pending, mostPending)],
    ['due now', `${counted(due, mostPending)}${since}`],
    ['due later', counted(later, mostPending)],
    ['oldest pending', oldestPendingAt ?? '–'],
  );
  return table.toString();
}

/** Failures by webhook, with bars: as long as the worst of them has failed most. */
function failures(failing: Failing[]): string {
  if (failing.length === 0) return 'No webhook is failing.';
  const worst = Math.max(...failing.map(({ failed }) => failed), 1);
  const head = ['account', 'webhook', 'failed in 24 h', '', 'in a row', 'left alone until'];
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const { account, webhookId, failed, failures, openUntil } of failing)
    table.push([
      account,
      webhookId,
      counted(failed, mostFailed),
      bar(failed / worst),
      failures,
      openUntil ?? '–',
    ]);
  return table.toString();
}

const counted = (count: number, most: number): string => (count < most ? `${count}` : `${most}+`);

const barWidth = 20;
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar for a share from 0 to 1, to an eighth of a character. */
function bar(share: number): string {
  const length = Math.round(share * barWidth * 8);
  return '█'.repeat(Math.floor(length / 8)) + (eighths[length % 8] ?? '');
}
