import MarkdownIt from 'markdown-it';

/** A command that a page shows: its words, and the variables set before them. */
export type Command = {
  page: string;
  text: string;
  tool: string;
  args: string[];
  variables: Record<string, string>;
  /** The file that it reads from stdin. */
  stdin: string | undefined;
  /** The name of the block that it is in; empty if that has none, undefined within a sentence. */
  block: string | undefined;
};

const tools = ['npm', 'npx', 'fleet', 'curl'];
/** Where a shell expects a command: at the beginning of a line, or after what separates two. */
const begins = new RegExp(
  `(?:^|[|;&(])[ \\t]*((?:(?:while|until|if) )?(?:[A-Z_]+=\\S+ )*(?:${tools.join('|')})(?![^\\s;|)]))`,
  'gm',
);
/** Blocks that are programs or data. */
const noShell = /^(?:ts|python|json|sql|yaml|toml)\b/;

/** The commands of these tools in a page: in its blocks, and in its sentences as code. */
export function commandsOf(page: string, markdown: string): Command[] {
  const tokens = new MarkdownIt().parse(markdown, {});
  const inBlocks = tokens
    .filter(({ type, info }) => type === 'fence' && !noShell.test(info))
    .flatMap(({ content, info }) => found(page, content, info.split(' ')[1] ?? ''));
  const inSentences = tokens
    .flatMap(({ children }) => children ?? [])
    .filter(({ type }) => type === 'code_inline')
    .flatMap(({ content }) => found(page, content, undefined));
  return [...inBlocks, ...inSentences];
}

const found = (page: string, shell: string, block: string | undefined): Command[] =>
  [...shell.matchAll(begins)].map((match) => {
    const [whole, command = ''] = match;
    const at = match.index + whole.length - command.length;
    return { page, block, ...read(shell.slice(at).replace(/^(?:while|until|if) /, '')) };
  });

/** A word, with what is quoted in it; or what ends a simple command. */
const part =
  /\\\n|[ \t]+|(#.*|[\n|;&)])|(<)[ \t]*|>[ \t]*\S+|((?:"[^"]*"|'[^']*'|\\.|[^\s"'|;&)<>\\])+)/y;

/** Reads one simple command of a shell. */
function read(shell: string): Omit<Command, 'page' | 'block'> {
  const words: string[] = [];
  let stdin: string | undefined;
  let isFile = false;
  part.lastIndex = 0;
  let end = 0;
  for (let match = part.exec(shell); match; match = part.exec(shell)) {
    const [, ends, input, word] = match;
    if (ends !== undefined) break;
    end = part.lastIndex;
    if (word === undefined) isFile = input !== undefined || isFile;
    else if (isFile) [stdin, isFile] = [word, false];
    else words.push(word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
  }
  const isVariable = (word: string) => /^[A-Z_]+=/.test(word);
  const first = words.findIndex((word) => !isVariable(word));
  const [tool = '', ...args] = words.slice(first);
  const variables = Object.fromEntries(words.slice(0, first).map((word) => word.split('=', 2)));
  return { text: shell.slice(0, end).trim(), tool, args, variables, stdin };
}
