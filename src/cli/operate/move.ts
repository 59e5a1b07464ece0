import { Command } from 'commander';
import { toAuthorization } from '../../platform/cells.ts';
import { operatorFor } from './cells.ts';
import { ApiError, insist } from './client.ts';
import { serviceAt, serviceOf } from './context.ts';
import { printable, show } from './print.ts';

/** How often the tool tries again while a cell or the router is down: for some four minutes. */
const maxTries = 25;
const longestWaitMs = 10_000;

export const moveAccountCommand = (): Command =>
  new Command('move')
    .description('Move an account and its data to another cell')
    .argument('<id>', 'id of the account')
    .option('--to <cell>', 'name of the cell where it goes')
    .option('--cancel', 'cancel the move, as long as the account does not live there')
    .addHelpText('after', '\nIf this is interrupted, run it again: it continues.')
    .action(async (id, { to: given, cancel = false }, command) => {
      if (cancel === (given !== undefined)) throw new ApiError('Give either --to CELL or --cancel');
      const operator = operatorFor(command);
      const { move: begun, estimate } = await operator.call('GET /accounts/:id/move', { id });
      const to = given ?? begun?.to;
      if (to === undefined) throw new ApiError('The account is not being moved');
      const { operatorKey } = serviceAt(serviceOf(command).baseUrl, to);
      const asked = { id, body: { to, cancel }, headers: { [toAuthorization]: `Bearer ${operatorKey}` } };
      if (estimate)
        console.error(
          `Moving ${estimate.rows} rows to ${printable(to)}. Until that is done, within ${estimate.seconds} seconds, ` +
            'writes of this account get 503. Cancel it with --cancel.',
        );
      for (;;) {
        const { move } = await insist(
          maxTries,
          () => operator.call('POST /accounts/:id/move', asked),
          longestWaitMs,
        );
        if (move?.state === 'done' || (cancel && move?.state === 'cancelled')) return show(command, move);
        if (move?.state === 'cancelled') throw new ApiError(`The move was cancelled: ${move.problem}`);
        if (process.stderr.isTTY && move)
          console.error(printable(`${move.state}: ${move.copied} of ${move.rows} rows copied`));
      }
    });
