// Runs in a frame without an origin, network access or a key. It draws text or images, never markup.
import './preview.css';
import type {} from './pdf.ts';
import { parseCsv, separatorOf, sniff, type Sniffed } from './sniff.ts';

interface Texts {
  /** For content that cannot be shown. */
  readonly none: string;
  /** For content that is too large to be read as a whole. */
  readonly large: string;
  /** For a text of which only the beginning is shown. */
  readonly cut: string;
  /** For a table of which only `{shown}` of `{all}` rows are shown. */
  readonly rows: string;
}

/** What the page sends first: the beginning of an object. */
interface Order {
  readonly head: ArrayBuffer;
  /** The size of the object. */
  readonly size: number;
  readonly isDark: boolean;
  readonly language: string;
  readonly texts: Texts;
  /** In bytes: the most that is shown of a text, and the size of the largest object of another kind that is read as a whole. */
  readonly limits: { readonly text: number; readonly whole: number };
}

const maxRows = 1_000;
/** The most fields of a row. A hostile file may have a million in one. */
const maxFields = 100;

let order: Order;

addEventListener('message', ({ source, data }: MessageEvent<Order | { readonly bytes: ArrayBuffer }>) => {
  if (source !== parent) return;
  if ('bytes' in data) return draw(sniff(new Uint8Array(order.head)), data.bytes);
  order = data;
  document.documentElement.classList.toggle('dark', order.isDark);
  const { head, size, limits, texts } = order;
  const found = sniff(new Uint8Array(head));
  const wanted = wantedFor(found);
  if (wanted === 'nothing') say(texts.none);
  // The page plays it, since it can read on while it does.
  else if (wanted === 'stream') ask(wanted, found);
  else if (wanted === 'whole' && size > limits.whole) say(texts.large);
  else if (head.byteLength >= size) draw(found, head);
  else ask(wanted, found);
});
parent.postMessage('ready', '*');

/** Returns what has to be read of an object to show it. */
function wantedFor({ kind }: Sniffed): 'nothing' | 'stream' | 'whole' | 'text' {
  if (kind === 'none') return 'nothing';
  if (kind === 'audio' || kind === 'video') return 'stream';
  return kind === 'image' || kind === 'pdf' ? 'whole' : 'text';
}

function ask(wanted: 'stream' | 'whole' | 'text', found: Sniffed): void {
  parent.postMessage({ wanted, type: 'type' in found ? found.type : '' }, '*');
}

function draw(found: Sniffed, bytes: ArrayBuffer): void {
  const { none, cut } = order.texts;
  switch (found.kind) {
    case 'image':
      return showImage(found.type, bytes, none);
    case 'pdf':
      return void showPdf(bytes, none);
    case 'json':
    case 'csv':
    case 'text': {
      const text = new TextDecoder(found.encoding).decode(bytes);
      const isCut = bytes.byteLength < order.size;
      if (found.kind === 'csv') return showTable(text, isCut);
      showText(found.kind === 'json' ? pretty(text) : text);
      if (isCut) document.body.prepend(paragraphOf(cut));
      return;
    }
    default:
      return say(none);
  }
}

/** Loads PDF.js, which is larger than the rest of the console, and shows a document. */
async function showPdf(bytes: ArrayBuffer, none: string): Promise<void> {
  try {
    await new Promise((resolve, reject) => {
      const script = document.createElement('script');
      script.src = 'pdf.js';
      script.onload = resolve;
      script.onerror = reject;
      document.head.append(script);
    });
    await globalThis.showPdf!(bytes);
  } catch {
    say(none);
  }
}

function showImage(type: string, bytes: ArrayBuffer, none: string): void {
  const image = document.createElement('img');
  image.onerror = () => say(none);
  image.alt = '';
  image.src = URL.createObjectURL(new Blob([bytes], { type }));
  document.body.replaceChildren(image);
}

function showText(text: string): void {
  const block = document.createElement('pre');
  block.textContent = text;
  document.body.replaceChildren(block);
}

function showTable(text: string, isCut: boolean): void {
  const table = document.createElement('table');
  const rows = parseCsv(text, separatorOf(text));
  for (const [index, fields] of rows.slice(0, maxRows).entries()) {
    const row = table.insertRow();
    for (const field of fields.slice(0, maxFields)) {
      const cell = document.createElement(index === 0 ? 'th' : 'td');
      cell.textContent = field;
      row.append(cell);
    }
  }
  document.body.replaceChildren(table);
  const { texts, language } = order;
  const all = `${rows.length.toLocaleString(language)}${isCut ? '+' : ''}`;
  const shown = Math.min(rows.length, maxRows).toLocaleString(language);
  if (rows.length > maxRows) table.before(paragraphOf(texts.rows.replace('{shown}', shown).replace('{all}', all)));
  else if (isCut) table.before(paragraphOf(texts.cut));
}

function say(text: string): void {
  document.body.replaceChildren(paragraphOf(text));
}

function paragraphOf(text: string): HTMLParagraphElement {
  const paragraph = document.createElement('p');
  paragraph.textContent = text;
  return paragraph;
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
