import * as v from 'valibot';
import { invalid } from '../../../core/platform/errors.ts';
import { by, type Context } from '../../../core/platform/http/context.ts';
import { shown } from '../../../ui/added.ts';
import { choice, FormPanel, handles, line } from '../../../ui/forms/form-fields.tsx';
import { done } from '../../../ui/submit.ts';
import { canKeepEvidence, findEvidenceDays, keepEvidence } from '../keep.ts';
import { EvidenceDays } from '../schema.ts';

const path = '/portal/settings/account';
const evidencePath = `${path}/evidence`;

/** For how long the account keeps evidence, and the form for it. */
export async function onAccount(c: Context) {
  const days = await findEvidenceDays(...by(c));
  return (
    <FormPanel
      title="Evidence of accidents"
      id="evidence"
      lead={`${days ? `Kept for ${days} days` : 'Not kept'}. ${whatIsKept} Older evidence is deleted; if you stop keeping it, all of it is.`}
      to={evidencePath}
      send="Save evidence"
      weight="plain"
      hint={
        canKeepEvidence(c.env)
          ? ''
          : 'Not available here: the operator has to add a bucket for files first.'
      }
      fields={evidenceFields}
      stored={{ keep: days ? 'yes' : 'no', days }}
    />
  );
}

const whatIsKept =
  'Videos, photos, reports and telemetry that providers link to are copied when an accident is reported, because the links expire within days.';

const Days = v.pipe(
  v.string(),
  v.trim(),
  v.transform((days) => (days === '' ? null : Number(days))),
  EvidenceDays,
);
const evidenceFields = {
  keep: choice('Keep evidence', [
    ['no', 'No, and delete what is stored'],
    ['yes', 'Yes, the fleets have agreed'],
  ]),
  days: line(
    'For how many days',
    Days,
    '30 to 3,650. Fleets see this number before they consent on a connect link.',
  ),
};

export const saveEvidence = handles(evidenceFields, shown('account'), async (c, { keep, days }) => {
  if (keep === 'yes' && days === null)
    throw invalid('Enter a number of days.', [{ field: 'days', message: 'is required' }]);
  await keepEvidence(c.env, c.get('caller'), keep === 'yes' ? days : null);
  const said =
    keep === 'yes' ? `Evidence is kept for ${days} days.` : 'What was kept is being deleted.';
  return done(c, path, said);
});
