import { ref } from '../../docs/openapi/components.ts';
import type { Operation, Operations } from '../../docs/openapi/document.ts';
import type { Documented } from '../../docs/openapi/documented.ts';
import {
  emptyRange,
  idParameter,
  pathParameter,
  refused,
  unknownId,
} from '../../docs/openapi/lists.ts';
import { failing, refusal } from '../../docs/openapi/responses.ts';
import { wordsOf } from '../../docs/openapi/words.ts';
import { exportInProgress, maxExportsPerDay, tooManyExports } from './exports.ts';
import { Export, ExportFile, ExportInput } from './schema.ts';

const exported = {
  id: '01a1fc72-8340-7c11-9a53-5d0f7b21e6aa',
  state: 'ready',
  lists: ['trips'],
  formats: ['csv'],
  from: '2026-11-01T00:00:00.000Z',
  to: '2026-11-21T00:00:00.000Z',
  connectionIds: null,
  records: 18_204,
  truncated: false,
  files: [{ name: 'trips.csv', records: 18_204, bytes: 5_104_332 }],
  requestedAt: '2026-11-21T06:00:00.000Z',
  expiresAt: '2026-11-28T06:00:41.000Z',
};

const parameters = [{ written: idParameter("The export's id.", exported.id) }];

const exportReply = (message: string, example = {}) => ({
  name: 'ExportReply',
  message,
  data: ref('DataExport'),
  example: { ...exported, ...example },
});

const { lists, formats, from, to } = ExportInput.entries;

const requestExport: Operation = {
  call: 'post /exports',
  summary: 'Export lists as files',
  description:
    `Prepares files of whole lists, for seven days. An account can have one in preparation, and ${maxExportsPerDay} a day. ` +
    'Deleting a connection or erasing a driver deletes all exports of the account.',
  body: 'ExportInput',
  reply: exportReply('Export requested', { state: 'preparing', records: 0, files: [] }),
  refusals: [
    refused('lists', lists, ['?']),
    refused('formats', formats, ['?']),
    refused('from', from, '?'),
    refused('to', to, '?'),
    emptyRange,
    exportInProgress,
    tooManyExports,
  ],
};

const getExportFile: Operation = {
  call: 'get /exports/{id}/files/{name}',
  summary: 'Download a file of an export',
  description: 'A file of an export that is `ready`.',
  parameters: [
    ...parameters,
    {
      written: {
        name: 'name',
        in: 'path',
        required: true,
        description: 'The `name` of one of its `files`.',
        schema: { type: 'string' },
        example: 'trips.csv',
      },
    },
  ],
  reply: { file: 'The file.' },
  others: {
    404: failing(404, 'Your account has no such file, or the export is not ready.', [
      'File not found',
    ]),
  },
};

const operations: Operations = {
  requestExport,
  listExports: {
    call: 'get /exports',
    summary: 'List exports',
    description:
      'The exports of your account that have not expired, newest first, on one page. A token that is limited to ' +
      'connections sees its own only.',
    reply: {
      name: 'ExportsReply',
      message: 'Exports',
      data: { type: 'array', items: ref('DataExport') },
    },
  },
  getExport: {
    call: 'get /exports/{id}',
    summary: 'Get one export',
    description: 'As the list shows it. Its `files` are listed once it is `ready`.',
    parameters,
    reply: exportReply('Export'),
    others: unknownId('export'),
  },
  getExportFile,
};

const exportedFile: Operation = {
  call: 'get /operator/accounts/{id}/exports/{exportId}/{file}',
  security: 'OperatorKey',
  summary: 'Download a file of an export',
  parameters: ['id', 'exportId', 'file'].map(pathParameter),
  reply: { file: 'The file, CSV or Parquet.' },
  others: { 400: refusal, 404: failing(404, 'There is none, or not any more.', ['Not found']) },
};

export const documented: Documented = {
  tags: { Exports: 'Lists as files, for data warehouses.' },
  operations: { Exports: operations },
  ofOperators: { Exports: { exportedFile } },
  schemas: { ExportInput, DataExport: Export, ExportFile },
  examples: {
    ExportInput: {
      lists: exported.lists,
      formats: exported.formats,
      from: '2026-11-01',
      to: '2026-11-21',
    },
    DataExport: exported,
    ExportFile: exported.files[0],
  },
  words: {
    ExportInput: 'What to export.',
    'ExportInput.lists': 'Which lists; all unless it is given.',
    'ExportInput.formats': 'In which formats, a file of each list in each; CSV unless it is given.',
    'ExportInput.from':
      'Only trips, safety events and accidents at this time or later. A date is its midnight UTC.',
    'ExportInput.to': 'Only trips, safety events and accidents before this time.',
    ...wordsOf('DataExport', 'Lists as files.', {
      state: '`preparing` until its files are ready or it has failed.',
      lists: 'The lists that it has.',
      formats: 'The formats of its files.',
      from: 'The beginning of its trips, safety events and accidents; null for all.',
      to: 'The end of these, which is excluded; null for all.',
      connectionIds:
        'The connections that it has, if a token that is limited to some asked for it; null for all of the account.',
      records: 'How many records it has so far.',
      truncated: 'Whether records are missing because it has the most that an export can have.',
      files: 'Its files, once it is ready.',
      requestedAt: 'When it was asked for.',
      expiresAt: 'When its files are deleted.',
    }),
    ...wordsOf('ExportFile', 'A file of an export.', {
      name: 'Its name, by which it is downloaded.',
      records: 'How many records it has.',
      bytes: 'Its size.',
    }),
  },
};
