import { html } from 'hono/html';

/** A paragraph of an email, optionally about something with a name, and with a link at its end. */
export type MailPart = {
  /** The subject of the paragraph: `claims.example.com`. */
  name?: string;
  text: string;
  /** A link. In HTML its label stands for the address; as a button it is the email's main action. */
  link?: Link;
};
type Link = { url: string; label: string; button?: boolean };

/** The tokens of `tokens.css` that emails use, which have no variables. A test compares them. */
export const mailTokens = {
  light: {
    'base-100': '#ffffff',
    'base-200': '#f6f7f9',
    'base-300': '#e4e7ec',
    'base-content': '#171b22',
    muted: '#5a6272',
    primary: '#3451d1',
    'primary-content': '#ffffff',
  },
  dark: {
    'base-100': '#101318',
    'base-200': '#0b0d11',
    'base-300': '#262c36',
    'base-content': '#e8ebf0',
    muted: '#9ba4b3',
    primary: '#93a8ff',
    'primary-content': '#0c1330',
  },
};
const { light, dark } = mailTokens;

/** Renders an email as text and equivalent HTML, without pictures. `footer` says why somebody gets it. */
export async function renderMail(subject: string, parts: MailPart[], footer: MailPart) {
  return {
    subject,
    parts,
    text: [...parts, footer].map(asText).join('\n\n'),
    html: String(await asHtml(subject, parts, footer)),
  };
}

const asText = ({ name, text, link }: MailPart): string =>
  [name && `${name}:`, text, link?.url].filter(Boolean).join(' ');

const asHtml = (subject: string, parts: MailPart[], footer: MailPart) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${subject}</title>
<style>
@media (prefers-color-scheme: dark) {
.page { background: ${dark['base-200']} !important; color: ${dark['base-content']} !important; }
.card { background: ${dark['base-100']} !important; border-color: ${dark['base-300']} !important; }
.muted, .muted a { color: ${dark.muted} !important; }
.link { color: ${dark.primary} !important; }
.button { background: ${dark.primary} !important; color: ${dark['primary-content']} !important; }
}
</style>
</head>
<body class="page" style="margin:0;background:${light['base-200']};color:${light['base-content']};font:15px/22px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">
<tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:560px;text-align:left">
<tr><td class="muted" style="padding:0 4px 12px;color:${light.muted};font-weight:600">Fleet Data Service</td></tr>
<tr><td class="card" style="padding:20px 24px;background:${light['base-100']};border:1px solid ${light['base-300']};border-radius:10px">
<h1 style="margin:0 0 16px;font-size:20px;line-height:26px;font-weight:600">${subject}</h1>
${parts.map(partAsHtml)}
</td></tr>
<tr><td class="muted" style="padding:12px 4px;color:${light.muted};font-size:13px;line-height:18px">
${footer.text}${footer.link && html` <a href="${footer.link.url}" style="color:${light.muted}">${footer.link.label}</a>`}
</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;

const partAsHtml = ({
  name,
  text,
  link,
}: MailPart) => html`<p style="margin:0 0 14px;overflow-wrap:anywhere">
${name && html`<strong>${name}:</strong> `}${text}${text && link?.button && html`<br>`}
${link && (link.button ? button(link) : html`<a class="link" href="${link.url}" style="color:${light.primary}">${link.label}</a>`)}
</p>
`;

/** The address below the button can be copied. */
const button = ({
  url,
  label,
}: Link) => html`<a class="button" href="${url}" style="display:inline-block;margin:8px 0;padding:8px 16px;background:${light.primary};color:${light['primary-content']};border-radius:7px;font-weight:500;text-decoration:none">${label}</a><br>
<span class="muted" style="color:${light.muted};font-size:13px;line-height:18px">Or copy this link: ${url}</span>`;
