import { validate as isUuid } from 'uuid';
import { invalid } from '../errors.ts';
import type { Context } from './context.ts';

/** The connection that the request names in its Connection-Id header. @throws Refusal: invalid */
export function connectionIdOf(c: Context, required = false): string | undefined {
  const id = c.req.header('connection-id')?.trim();
  if (!id) {
    if (required)
      throw invalid('Connection-Id header is required', [{ field: 'Connection-Id', message: 'is required' }]);
    return undefined;
  }
  if (!isUuid(id))
    throw invalid('Invalid connection id', [{ field: 'Connection-Id', message: 'must be a UUID' }]);
  return id.toLowerCase();
}
