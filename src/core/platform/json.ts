/** The JSON in a text; undefined if it is invalid. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const mark = String.raw`([[{}\],:])`;
const letter = String.raw`[ !#-[\]-\uffff]`; // neither a quote, a backslash nor a control character
const text = String.raw`("${letter}*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})${letter}*)*")`;
const word = String.raw`(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null)(?![\w.+-])`;

/** A token of JSON: what is around values, a text, or another value. */
const token = new RegExp(String.raw`[ \t\n\r]*(?:${mark}|${text}|${word})`, 'y');

/** Which tokens may follow: `value`, or `,` or an end after one. In an object, keys come first. */
type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or end';

/** Where a text that is not JSON stops being JSON: how many characters are before. */
export function endOfJson(text: string): number {
  const open: string[] = [];
  let expected: Expected = 'value';
  token.lastIndex = 0;
  for (;;) {
    const at = token.lastIndex;
    const [whole, mark, string] = token.exec(text) ?? [];
    const next: Expected | undefined =
      whole === undefined ? undefined : follows(expected, mark, string !== undefined, open);
    if (!next) return at + (/^[ \t\n\r]*/.exec(text.slice(at))?.[0].length ?? 0);
    expected = next;
  }
}

/** What may follow a token; undefined if it may not be there. */
function follows(
  expected: Expected,
  mark: string | undefined,
  isText: boolean,
  open: string[],
): Expected | undefined {
  if (expected === ':') return mark === ':' ? 'value' : undefined;
  if (expected === ', or end') {
    const begun = open.at(-1);
    if (mark === ',' && begun) return begun === '{' ? 'key' : 'value';
    return mark && (begun === '{' ? '}' : ']') === mark && open.pop() ? ', or end' : undefined;
  }
  if (mark === '}' || mark === ']') {
    if (!expected.endsWith(mark)) return undefined;
    open.pop();
    return ', or end';
  }
  if (expected.startsWith('key')) return isText ? ':' : undefined;
  if (mark === '{' || mark === '[') {
    open.push(mark);
    return mark === '{' ? 'key or }' : 'value or ]';
  }
  return mark ? undefined : ', or end';
}
