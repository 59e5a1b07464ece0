import { ExternalIdInput, maxExternalId } from '../../fleet/lists/resource.ts';
import { parse } from '../../platform/fields.ts';
import type { Context } from '../../platform/http/context.ts';
import { Field, FormPanel } from './forms.tsx';
import { done, submit } from './submit.ts';

/** The account's own identifier of a connection or a vehicle, for people who may change it. */
export const ExternalIdPanel = (props: { to: string; value: string | null; hint: string }) => (
  <FormPanel id="external-id" title="Your own ID" to={props.to} send="Save" weight="plain">
    <Field
      name="externalId"
      label="External ID"
      hint={props.hint}
      value={props.value ?? ''}
      maxlength={maxExternalId}
      autocomplete="off"
    />
  </FormPanel>
);

/** Handles that form; `save` returns the path and name of what has it. */
export const saveExternalId = (
  c: Context,
  save: (externalId: string | null) => Promise<{ path: string; name: string }>,
  show: (c: Context) => Response | Promise<Response>,
) =>
  submit(
    c,
    async (form) => {
      const { externalId } = parse(ExternalIdInput, { externalId: form.value('externalId').trim() });
      const { path, name } = await save(externalId);
      return done(c, path, `The external ID of “${name}” was saved.`);
    },
    () => show(c),
    'externalId',
  );
