/** How much of something is used: in words, and as a bar. @param part from 0 to 1 */
export function Meter({ text, part }: { readonly text: string; readonly part: number }) {
  return (
    <div class="stack tight">
      <p>{text}</p>
      <div class={part > 0.9 ? 'meter warn' : 'meter'}>
        <div style={{ width: `${Math.min(100, part * 100)}%` }} />
      </div>
    </div>
  );
}
