import { Hono } from 'hono';
import * as v from 'valibot';
import { authenticate } from '../../core/accounts/tokens/authenticate.ts';
import { idOf, notFound } from '../../core/fleet/find.ts';
import { accidents } from '../../core/fleet/lists/accidents.ts';
import { parseQuery } from '../../core/platform/fields.ts';
import { refuseParameters } from '../../core/platform/http/body.ts';
import { type App, by, type Context, ok } from '../../core/platform/http/context.ts';
import { QueryTime } from '../../core/platform/query.ts';
import { findWithEvidence, openFile } from './evidence.ts';
import { storedFile } from './http/stored-file.ts';

/** The item of the list of accidents with its evidence, and the files. */
export const evidenceRoutes = new Hono<App>()
  .get('/accidents/:id', authenticate('api'), accident)
  .get('/accidents/:id/evidence/:evidenceId', authenticate('api'), evidence);

/** Returns an accident with its evidence. */
async function accident(c: Context) {
  parseQuery(ItemQuery, c.req.queries());
  const found = await findWithEvidence(...by(c), accidentId(c));
  if (!found) throw notFound(accidents.list);
  return ok(c, 'Accident', found);
}

/** As other items are asked for, although no accident is archived. */
const ItemQuery = v.object({ at: v.optional(QueryTime) });

/** A file of an accident's evidence. */
async function evidence(c: Context) {
  refuseParameters(c);
  const asked = {
    accidentId: accidentId(c),
    id: c.req.param('evidenceId') ?? '',
    by: c.get('token').id,
  };
  const { file, open } = await openFile(...by(c), asked);
  return storedFile(c, file, 'attachment', open);
}

const accidentId = (c: Context): string => idOf(accidents.list, c.req.param('id'));
