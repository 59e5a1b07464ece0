import { Command } from 'commander';
import { maxListed } from '../../operator/api/operation.ts';
import type { HeaderKey, ServiceLevel, StatusReport } from '../../operator/api/service.ts';
import { waitInWords } from '../../webhooks/latency.ts';
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
  const { problem, warning, health, serviceLevels, accidents, failing, paused, connections, ...rest } =
    report;
  const { uncovered, deletions, moves, headerKeys, ...pending } = rest;
  return {
    ...(cell && { cell }),
    service: problem ?? warning ?? 'healthy',
    'fails now': failsNow(report),
    ...health,
    ...pending,
    'service levels': levels(serviceLevels),
    'accidents that wait': accidents.map(({ deliveryId, level, account, url, createdAt }) => {
      return { deliveryId, level, account, receiver: hostOf(url), createdAt };
    }),
    'webhooks with failures in 24 hours': failing.map(({ webhookId, url, account, lastFailure, ...one }) => {
      const failure = resultOf(lastFailure && { ...lastFailure, result: lastFailure.kind });
      const failed = `${one.failedAttempts}, ${one.failures} in a row`;
      return { webhookId, receiver: hostOf(url), account, lastFailure: failure, failed };
    }),
    'webhooks paused for over 15 minutes': paused.map(({ accountId, url, ...webhook }) => {
      return { ...webhook, receiver: hostOf(url) };
    }),
    'connections with problems': connections.map(({ accountId, ...connection }) => connection),
    'connections whose accidents nobody is notified of': uncovered.map(({ accountId, ...one }) => one),
    'deletions that fail': deletions.map(({ accountId, ...deletion }) => deletion),
    'accounts that are being moved': moves.map(({ isOverdue, ...move }) => move),
    // One key has encrypted everything, unless keys are being rotated.
    'keys of HEADER_KEYS':
      headerKeys.length > 1
        ? headerKeys.map((one) => ({ key: one.key, encrypts: one.encrypts, is: useOf(one) }))
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

/** How long deliveries took, from their receipt. */
function levels({ day, month }: StatusReport['serviceLevels']): object[] {
  const row = (deliveries: string, { count, inTime, firstAttempt, delivered }: ServiceLevel) => {
    const times = ({ p50, p95, p99 }: ServiceLevel['delivered']) =>
      count === 0 ? null : [p50, p95, p99].map(waitInWords).join(' / ');
    return {
      deliveries,
      count,
      'attempted in 5 s': inTime === null ? null : `${Math.floor(inTime * 1000) / 10} %`,
      'first attempt, p50 / p95 / p99': times(firstAttempt),
      'success, p50 / p95 / p99': times(delivered),
    };
  };
  return Object.entries({ '24 h': day, '30 days': month }).flatMap(([span, { accidents, events }]) => [
    row(`accidents, ${span}`, accidents),
    row(`events, ${span}`, events),
  ]);
}
