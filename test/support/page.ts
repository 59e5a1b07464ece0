import { type HTMLElement, type Node, parse, TextNode } from 'node-html-parser';

/** What somebody types or chooses: a text or choice, whether a box is checked, or which of several. */
export type Typed = string | boolean | string[];
type Control = {
  names: string[];
  name: string;
  value: string;
  isChoice: boolean;
  isOn: boolean;
  is: HTMLElement;
};

const textIn = (part: Node): string => piecesOf(part).join(' ').replace(/\s+/g, ' ').trim();

const piecesOf = (part: Node): string[] => {
  if (part instanceof TextNode) return [part.text];
  return (part as HTMLElement).rawTagName === 'svg' ? [] : part.childNodes.flatMap(piecesOf);
};

/** A page's HTML as people read it and fill it in. */
export function pageIn(html: string) {
  // Where a line may end is no space.
  const root = parse(html.replaceAll('<wbr/>', ''), {
    blockTextElements: { script: true, style: true },
  });
  const all = (selector: string) => root.querySelectorAll(selector);
  const textAt = (selector: string) => all(selector).map(textIn);
  return {
    html,
    all,
    textAt,
    text: textIn(root.querySelector('body') ?? root),
    title: textAt('title')[0] ?? '',
    heading: textAt('h1')[0] ?? '',
    /** Where the links with this text lead, or all of them. */
    links: (name?: string) =>
      all('main a[href]').flatMap((link) =>
        name === undefined || textIn(link) === name ? [link.getAttribute('href') ?? ''] : [],
      ),
    /** What is wrong with what was sent, by the name of the field. */
    errors: Object.fromEntries(
      all('.field-error').map((error) => [error.id.replace(/-error$/, ''), textIn(error)]),
    ),
    /** The form with this button, or the first. */
    form: (button?: string) =>
      formIn(all(button === undefined ? 'main form[method=post]' : 'form[method=post]'), button),
  };
}

function formIn(forms: HTMLElement[], button?: string) {
  const buttonOf = (form: HTMLElement) =>
    form.querySelectorAll('button').find((one) => textIn(one) === button);
  const form = button === undefined ? forms[0] : forms.find(buttonOf);
  if (!form) throw new Error(`no form has ${button}`);
  const controls = form.querySelectorAll('input, select').map((is) => controlIn(form, is));
  const pressed = buttonOf(form);
  const found = (name: string) => {
    const named = controls.filter(({ names }) => names.includes(name));
    if (!named[0]) throw new Error(`the form has no ${name}`);
    return named;
  };
  return {
    action: pressed?.getAttribute('formaction') ?? form.getAttribute('action') ?? '',
    /** What stands in the controls with this name or label; of boxes, what is checked. */
    values: (name: string) =>
      found(name).flatMap(({ value, isChoice, isOn }) => (isChoice && !isOn ? [] : [value])),
    fill(typed: Record<string, Typed>) {
      for (const [name, value] of Object.entries(typed)) {
        const [first, ...others] = found(name);
        // Of several lines of one name, the first.
        for (const one of first?.isChoice ? [first, ...others] : [first]) if (one) type(one, value);
      }
      return this;
    },
    fields: (): [name: string, value: string][] => [
      ...controls.flatMap(({ name, value, isChoice, isOn }): [string, string][] =>
        name && (!isChoice || isOn) ? [[name, value]] : [],
      ),
      ...(pressed?.getAttribute('name')
        ? [['do', pressed.getAttribute('value') ?? ''] as [string, string]]
        : []),
    ],
  };
}

function controlIn(form: HTMLElement, is: HTMLElement): Control {
  const attribute = (name: string) => is.getAttribute(name) ?? '';
  const options = is.querySelectorAll('option');
  const chosen = options.find((option) => option.hasAttribute('selected')) ?? options[0];
  const label = form.querySelectorAll('label').find((one) => one.getAttribute('for') === is.id);
  const choice = is.closest('label.choice')?.querySelector('strong');
  const legend = choice && is.closest('fieldset')?.querySelector('legend');
  return {
    is,
    name: attribute('name'),
    value: chosen?.getAttribute('value') ?? attribute('value'),
    names: [
      attribute('name'),
      attribute('aria-label'),
      ...[label, choice, legend].map((one) => (one ? textIn(one) : '')),
    ],
    isChoice: /checkbox|radio/.test(attribute('type')),
    isOn: is.hasAttribute('checked'),
  };
}

function type(control: Control, typed: Typed): void {
  const { is, isChoice, names } = control;
  const isIt = (one: Typed) => one === control.value || names.includes(String(one));
  if (typeof typed === 'boolean') control.isOn = typed;
  else if (isChoice) control.isOn = Array.isArray(typed) ? typed.some(isIt) : isIt(typed);
  else {
    const option = is.querySelectorAll('option').find((one) => textIn(one) === typed);
    control.value = option?.getAttribute('value') ?? String(typed);
  }
}
