import { maxExternalId } from '../../fleet/lists/resource.ts';
import { Allowed } from './allowed.tsx';
import { Submit } from './buttons.tsx';
import { Field, Form } from './forms.tsx';
import { Panel } from './parts.tsx';

/** The account's own identifier of a connection or a vehicle, for people who may change it. */
export const ExternalIdPanel = (props: { to: string; value: string | null; hint: string }) => (
  <Allowed to={props.to}>
    <Panel id="external-id" title="Your own ID">
      <Form to={props.to} look="panel-body grid gap-3">
        <Field
          name="externalId"
          label="External ID"
          hint={props.hint}
          value={props.value ?? ''}
          maxlength={maxExternalId}
          autocomplete="off"
        />
        <div>
          <Submit name="Save" weight="plain" />
        </div>
      </Form>
    </Panel>
  </Allowed>
);
