import * as v from 'valibot';
import { accidents } from '../../core/fleet/lists/accidents.ts';
import { exampleConnectionId } from '../../core/fleet/lists/resource.ts';
import { recordId } from '../../core/platform/db/ids.ts';
import type { Operation } from '../../docs/openapi/document.ts';
import type { Documented } from '../../docs/openapi/documented.ts';
import { exampleId, idParameter } from '../../docs/openapi/lists.ts';
import { failing } from '../../docs/openapi/responses.ts';
import { meanings, wordsOf } from '../../docs/openapi/words.ts';
import { Evidence } from './schema.ts';

/** The fields of an accident, which is an object. */
const { entries } = accidents.item as unknown as v.ObjectSchema<v.ObjectEntries, undefined>;

const evidence = {
  id: recordId(exampleConnectionId, 'evidence', accidents.recordExample.sourceId),
  kind: 'video',
  camera: 'Road',
  takenAt: '2026-11-20T20:00:00.000Z',
  state: 'stored',
  reason: null,
  contentType: 'video/mp4',
  bytes: 8_412_310,
  sha256: 'b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c',
  storedAt: '2026-11-20T20:01:10.000Z',
  expiresAt: '2027-11-20T20:00:02.000Z',
};

const getEvidence: Operation = {
  call: 'get /accidents/{id}/evidence/{evidenceId}',
  summary: 'Get a file of an accident',
  description:
    'A file of its `evidence` that is `stored`, or a range of it, as video players need it.',
  parameters: [
    { written: idParameter("The accident's `eventId`.", exampleId(accidents)) },
    { written: { ...idParameter('The `id` of the evidence.', evidence.id), name: 'evidenceId' } },
    {
      written: {
        name: 'Range',
        in: 'header',
        description: 'One range of bytes, such as `bytes=0-1023`. Anything else is ignored.',
        schema: { type: 'string' },
      },
    },
  ],
  reply: {
    file: 'The file. Its `Content-Type` is the `contentType` of the evidence.',
    ranges: true,
  },
  others: {
    404: failing(404, 'Your account has none with these ids, or its file is not stored.', [
      'Accident not found',
      'Evidence not found',
    ]),
  },
};

export const documented: Documented = {
  operations: { Fleet: { getEvidence } },
  detailed: { Accident: ['AccidentWithEvidence', ', with its evidence if your account keeps any'] },
  schemas: {
    AccidentWithEvidence: v.object({ ...entries, evidence: v.optional(v.array(Evidence)) }),
    Evidence,
  },
  examples: {
    AccidentWithEvidence: { ...accidents.itemExample, evidence: [evidence] },
    Evidence: evidence,
  },
  words: {
    ...wordsOf('AccidentWithEvidence', 'An accident as its list shows it, with its evidence.', {
      ...meanings(accidents.itemFields),
      evidence:
        'Its videos, photos, reports and telemetry; missing if there are none, or if your account keeps none.',
    }),
    ...wordsOf('Evidence', 'A file about an accident.', {
      id: 'Its identifier.',
      kind: 'What it is.',
      camera: 'Which camera took it, if the provider says.',
      takenAt: 'When it was taken, if the provider says.',
      state: '`waiting` until it is copied or missed.',
      reason: 'Why it was missed, or why copying it has failed so far.',
      contentType: 'Its type, by its first bytes; null until it is stored.',
      bytes: 'Its size.',
      sha256: 'Its SHA-256 checksum, in hexadecimal.',
      storedAt: 'When its copy was complete.',
      expiresAt: 'When it will be deleted.',
    }),
  },
};
