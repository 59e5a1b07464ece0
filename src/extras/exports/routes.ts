import { Hono } from 'hono';
import { operatorIn } from '../../core/accounts/accounts.ts';
import { authenticate, limitActions } from '../../core/accounts/tokens/authenticate.ts';
import { Refusal } from '../../core/platform/errors.ts';
import { parse } from '../../core/platform/fields.ts';
import { readJson, refuseParameters } from '../../core/platform/http/body.ts';
import { type App, by, type Context, file, ok } from '../../core/platform/http/context.ts';
import { findExport, listExports, openFile, requestExport } from './exports.ts';
import { ExportInput, shown, wantedBy } from './schema.ts';

const largestBody = 64 * 1024;

/** Exports by API token: a read-only one lists and downloads them. */
export const exportRoutes = new Hono<App>()
  .get('/exports', authenticate('api'), list)
  .post('/exports', authenticate('api'), limitActions, request)
  .get('/exports/:id', authenticate('api'), item)
  .get('/exports/:id/files/:name', authenticate('api'), limitActions, download);

/** Files of exports, for operators. */
export const operatorRoutes = new Hono<App>().get(
  '/accounts/:id/exports/:exportId/:file',
  async (c) => {
    refuseParameters(c);
    const { id, exportId, file: name } = c.req.param();
    return file(c, await openFile(c.env, operatorIn(id), exportId, name));
  },
);

async function list(c: Context) {
  refuseParameters(c);
  return ok(c, 'Exports', (await listExports(...by(c))).map(shown));
}

async function request(c: Context) {
  const wanted = wantedBy(parse(ExportInput, await readJson(c, largestBody)));
  const { id } = await requestExport(...by(c), c.get('token').id, wanted);
  return show(c, 'Export requested', id);
}

async function item(c: Context) {
  refuseParameters(c);
  return show(c, 'Export', c.req.param('id')?.toLowerCase() ?? '');
}

async function show(c: Context, message: string, id: string) {
  const found = await findExport(...by(c), id);
  if (!found) throw new Refusal({ kind: 'not found', what: 'export' });
  return ok(c, message, shown(found));
}

/** Sends a file, piece by piece. */
async function download(c: Context) {
  refuseParameters(c);
  const { id = '', name = '' } = c.req.param();
  return file(c, await openFile(...by(c), id.toLowerCase(), name));
}
