import { Command } from 'commander';
import { operatorFor } from '../../cli/operate/cells.ts';
import { ApiError, insist } from '../../cli/operate/client.ts';
import { serviceAt, serviceOf } from '../../cli/operate/context.ts';
import type { Groups } from '../../cli/operate/derive.ts';
import { printable, show } from '../../cli/operate/print.ts';
import { toAuthorization } from '../../router/cells.ts';

/** How often the tool tries again while a cell or the router is down: for some four minutes. */
const maxTries = 25;
const longestWaitMs = 10_000;

const moveAccountCommand = (): Command =>
  new Command('move')
    .description('Move an account and its data to another cell')
    .argument('<id>', 'id of the account')
    .option('--to <cell>', 'name of the cell where it goes')
    .option('--cancel', 'cancel the move, as long as the account does not live there')
    .addHelpText('after', '\nIf this is interrupted, run it again: it continues.')
    .action(async (id, { to: given, cancel = false }, command) => {
      if (cancel === (given !== undefined)) throw new ApiError('Give either --to CELL or --cancel');
      const operator = operatorFor(command);
      const found = await operator.call('GET /accounts/:id/move', { id });
      const to = given || found.to;
      if (!to) throw new ApiError('The account is not being moved');
      const { operatorKey } = serviceAt(serviceOf(command).baseUrl, to);
      const asked = {
        id,
        body: { to, cancel },
        headers: { [toAuthorization]: `Bearer ${operatorKey}` },
      };
      if (found.state === 'none')
        console.error(
          `Moving ${found.rows} rows to ${printable(to)}. Until that is done, within ` +
            `${found.seconds} seconds, requests of this account get 503. Cancel it with --cancel.`,
        );
      for (;;) {
        const makeStep = () => operator.call('POST /accounts/:id/move', asked);
        const move = await insist(maxTries, makeStep, longestWaitMs);
        const { state, copied, rows, problem } = move;
        if (state === 'cancelled' && !cancel)
          throw new ApiError(`The move was cancelled: ${problem}`);
        if (state === 'cancelled' || state === 'done') return show(command, move);
        if (process.stderr.isTTY)
          console.error(printable(`${state}: ${copied} of ${rows} rows copied`));
      }
    });

export const commands: Groups = { account: { commands: [moveAccountCommand] } };
