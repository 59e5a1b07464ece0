import { expect, it } from 'vitest';
import { exchangesWith } from './exchanges.ts';
import { departures } from './published.ts';

const described = (schema: object) => ({
  paths: {
    '/me': {
      get: {
        parameters: [{ in: 'query', name: 'limit' }, { $ref: '#/components/parameters/after' }],
        responses: { 200: { content: { 'application/json': { schema } } } },
      },
    },
  },
  components: {
    parameters: { after: { in: 'query', name: 'after' } },
    schemas: { Id: { type: 'string' } },
  },
});
const schema = { type: 'object', required: ['id'], properties: { id: { $ref: '#/components/schemas/Id' } } };
const exchange = {
  path: '/me',
  query: new URLSearchParams('limit=1&after=x'),
  status: 200,
  body: { id: '1' },
};

it.each([
  ['nothing, when all fits', {}, []],
  ['a path', { path: '/you' }, ['GET /you is not published']],
  ['a parameter', { query: new URLSearchParams('page=1') }, ['GET /me has no parameter page']],
  ['a status', { status: 404 }, ['GET /me does not answer 404']],
  ['a type', { body: { id: 1 } }, ['GET /me: /id must be string']],
  ['what is missing', { body: {} }, ["GET /me: / must have required property 'id'"]],
])('a departure from the description is found: %s', (_, more, found) => {
  expect(departures(described(schema), [{ ...exchange, ...more }])).toEqual(found);
});

it.each(Object.entries(exchangesWith))(
  'the fake of %s answers all that is held against it',
  async (_, ask) => {
    const exchanges = await ask();
    expect(exchanges.map(({ status }) => status)).toEqual(exchanges.map(() => 200));
  },
);
