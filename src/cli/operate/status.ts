import { Command } from 'commander';
import { maxListed } from '../../operator/api/counted.ts';
import type { HeaderKey, StatusReport } from '../../operator/api/service.ts';
import { percent } from '../../texts/words.ts';
import { askAll } from './cells.ts';
import { show } from './print.ts';
import { hostOf, resultOf } from './rows.ts';

export const statusCommand = (): Command =>
  new Command('status')
    .description('Show the health of the service, and which webhooks and connections fail')
    .action(async (_, command) => {
      const replies = await askAll(command, 'GET /status');
      const reports = replies.map(({ cell, data }) => ({ ...(cell && { cell }), ...data }));
      const [only] = reports;
      if (only && !only.cell) show(command, only, shapeOf);
      else show(command, reports, (all) => all.map(shapeOf));
    });

/** One row for each cell. */
export const listCellsCommand = (): Command =>
  new Command('list')
    .description('List the cells: accounts, size, events a day, and when the database will be full')
    .action(async (_, command) =>
      show(
        command,
        (await askAll(command, 'GET /cell')).map(({ data }) => data),
      ),
    );

function shapeOf({ cell, ...report }: StatusReport & { cell?: string }): object {
  const {
    problem,
    warning,
    health,
    accidentsInTime,
    accidents,
    failing,
    paused,
    connections,
    ...rest
  } = report;
  const { uncovered, deletions, moves, encryptionKeys, ...pending } = rest;
  return {
    ...(cell && { cell }),
    service: problem ?? warning ?? 'healthy',
    'fails now': failsNow(report),
    ...health,
    ...pending,
    'accidents attempted in 5 s': inTimeOf(accidentsInTime),
    'accidents that wait': accidents.map(({ deliveryId, level, account, url, createdAt }) => {
      return { deliveryId, level, account, receiver: hostOf(url), createdAt };
    }),
    'webhooks with failures in 24 hours': failing.map(
      ({ webhookId, url, account, lastFailure, ...one }) => {
        const failure = resultOf(lastFailure && { ...lastFailure, result: lastFailure.kind });
        const failed = `${one.failedAttempts}, ${one.failures} in a row`;
        return { webhookId, receiver: hostOf(url), account, lastFailure: failure, failed };
      },
    ),
    'webhooks paused for over 15 minutes': paused.map(({ accountId, url, ...webhook }) => {
      return { ...webhook, receiver: hostOf(url) };
    }),
    'connections with problems': connections.map(({ accountId, ...connection }) => connection),
    'connections whose accidents nobody is notified of': uncovered.map(
      ({ accountId, ...one }) => one,
    ),
    'deletions that fail': deletions.map(({ accountId, ...deletion }) => deletion),
    'accounts that are being moved': moves.map(({ isOverdue, ...move }) => move),
    // One key has encrypted everything, unless keys are being rotated.
    'keys of ENCRYPTION_KEYS':
      encryptionKeys.length > 1
        ? encryptionKeys.map((one) => ({ key: one.key, encrypts: one.encrypts, is: useOf(one) }))
        : [],
  };
}

/** What needs attention now; without what has failed in the last day and works again. */
function failsNow({ accidents, failing, connections, deletions, moves }: StatusReport): string {
  const overdue = moves.filter(({ isOverdue }) => isOverdue);
  const webhooks = failing.filter(({ failures }) => failures > 0);
  const found = Object.entries({
    'accidents that wait': accidents,
    webhooks,
    connections,
    deletions,
    moves: overdue,
  })
    .filter(([, items]) => items.length > 0)
    .map(([name, { length }]) => `${name}: ${length}${length < maxListed ? '' : '+'}`);
  return found.join(', ') || 'nothing';
}

/** What a key is still used for. */
function useOf({ encrypts, known, newest }: HeaderKey): string {
  if (newest) return 'in use';
  if (!known) return 'missing: put it back';
  return encrypts > 0 ? 'still needed' : 'can be removed';
}

/** How many accidents were attempted, and the share of them in time. */
const inTimeOf = ({ hour, day }: StatusReport['accidentsInTime']): object[] =>
  Object.entries({ 'this hour': hour, '24 h': day }).map(([span, { count, inTime }]) => ({
    span,
    accidents: count,
    'in time': inTime === null ? null : percent(inTime, 1),
  }));
