import { type Guide, hrefOf } from './guides.ts';
import type { Rendered } from './markdown.ts';

/** Something that a reader can look for: a section of a guide, or an operation of the API. */
export type Topic = {
  /** The title of the page that it is on. */
  page: string;
  title: string;
  href: string;
  /** An operation's method and path. */
  detail?: string;
  /** Its first paragraph. */
  lead: string;
  /** All words in it. */
  text: string;
};

/** The sections of a guide; the first is the guide itself. */
export const guideTopics = (guide: Guide, { headings }: Rendered): Topic[] =>
  headings.map(({ tag, id, title, lead, text }) => ({
    page: guide.title,
    title,
    href: tag === 'h1' ? hrefOf(guide) : `${hrefOf(guide)}#${id}`,
    lead,
    text,
  }));

/** What an OpenAPI document has that can be looked for. */
export type ApiDocument = {
  info: { description: string };
  paths: { [path: string]: { [method: string]: Operation } };
  webhooks: { [name: string]: { post: Operation } };
  components: { parameters: { [name: string]: Parameter } };
};
type Operation = {
  summary: string;
  description: string;
  tags: string[];
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: { content: JsonBody };
  responses: { 200?: { content: JsonBody } };
};
type Parameter = { name: string; description: string };
type JsonBody = { 'application/json': { example: unknown } };

/** The operations of a document, then the calls that receivers get; the first topic is the reference itself. */
export function apiTopics(document: ApiDocument): Topic[] {
  const topic = (operation: Operation, place: string, detail: string): Topic => ({
    page: 'API reference',
    title: operation.summary,
    // As Scalar names the sections of its page.
    href: `/docs/reference#tag/${operation.tags[0]?.toLowerCase()}/${place}`,
    detail,
    lead: plain(operation.description),
    text: wordsOf(operation, document),
  });
  const description = plain(document.info.description);
  return [
    {
      page: 'API reference',
      title: 'API reference',
      href: '/docs/reference',
      lead: description,
      text: description,
    },
    ...Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) =>
        topic(operation, method.toUpperCase() + path, `${method.toUpperCase()} ${path}`),
      ),
    ),
    ...Object.entries(document.webhooks).map(([name, { post }]) =>
      topic(post, `webhook/POST/${name}`, 'a call to your receiver'),
    ),
  ];
}

/** A description without the marks of Markdown. */
const plain = (markdown: string): string => markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)|`/g, '$1');

function wordsOf(
  { description, parameters = [], requestBody, responses }: Operation,
  document: ApiDocument,
): string {
  const described = parameters.map((parameter) => {
    const { name, description } = '$ref' in parameter ? named(parameter.$ref, document) : parameter;
    return `${name}: ${description}`;
  });
  const properties = [requestBody, responses[200]].flatMap((body) =>
    namesIn(body?.content['application/json'].example),
  );
  return [description, ...described, ...new Set(properties)].join(' ');
}

function named(ref: string, { components }: ApiDocument): Parameter {
  const parameter = components.parameters[ref.split('/').at(-1) ?? ''];
  if (!parameter) throw new Error(`The document has no ${ref}`);
  return parameter;
}

/** The names of all properties in a value of JSON. */
function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inside]) => [name, ...namesIn(inside)]);
}
