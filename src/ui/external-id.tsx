import * as v from 'valibot';
import { ExternalIdInput, maxExternalId } from '../core/fleet/lists/resource.ts';
import type { Context } from '../core/platform/http/context.ts';
import { FormPanel, handles, line } from './fields.tsx';
import { done } from './submit.ts';

const OrNone = v.pipe(
  v.string(),
  v.trim(),
  v.transform((typed) => typed || null),
  ExternalIdInput.entries.externalId,
);

const fields = (hint = '') => ({
  externalId: line('External ID', OrNone, { hint, maxlength: maxExternalId, autocomplete: 'off' }),
});

/** The account's own identifier of a connection or a vehicle, for people who may change it. */
export const ExternalIdPanel = (props: { to: string; value: string | null; hint: string }) => (
  <FormPanel
    title="Your own ID"
    to={props.to}
    send="Save"
    weight="plain"
    fields={fields(props.hint)}
    stored={{ externalId: props.value }}
  />
);

/** Handles that form; `save` returns the path and name of what has it. */
export const savesExternalId = (
  show: (c: Context) => Response | Promise<Response>,
  save: (c: Context, externalId: string | null) => Promise<{ path: string; name: string }>,
) =>
  handles(fields(), show, async (c, { externalId }) => {
    const { path, name } = await save(c, externalId);
    return done(c, path, `The external ID of “${name}” was saved.`);
  });
