import { env } from 'cloudflare:workers';
import { keyOf } from '#src/extras/evidence/evidence.ts';
import type { Added } from '#test/support/added.ts';
import { addRow, later, rows } from '#test/support.ts';

const fileOf = (accountId: string, accidentId = 'crash') => ({
  accountId,
  accidentId,
  id: `file-${accountId}`,
});

export const added: Added = {
  contents: ({ accountId }) => ({
    evidence: {
      id: fileOf(accountId).id,
      accident_id: 'crash',
      kind: 'video',
      state: 'stored',
      created_at: later,
    },
  }),
  async fill({ accountId }) {
    const upload = await env.ARCHIVE.createMultipartUpload(keyOf(fileOf(accountId)));
    await upload.complete([await upload.uploadPart(1, 'video')]);
  },
  async mark({ mark, us, ids }) {
    const file = fileOf(us.accountId, ids.accidents);
    await rows(
      'insert or replace into evidence_days (account_id, days, since) values (?1, 30, 0)',
      us.accountId,
    );
    await addRow('evidence', {
      id: file.id,
      account_id: us.accountId,
      connection_id: us.connection.id,
      accident_id: file.accidentId,
      kind: 'photo',
      camera: mark,
      state: 'stored',
      content_type: 'image/png',
      bytes: 3,
      created_at: Date.now(),
    });
    await env.ARCHIVE.put(keyOf(file), 'a,b');
    return { ':evidenceId': file.id };
  },
};
