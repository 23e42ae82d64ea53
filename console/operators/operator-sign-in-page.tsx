import { useRef } from 'preact/hooks';
import { tokenRefused } from './admin-client.ts';
import { go, route } from './operator-routes.ts';
import { may, signedOut, signIn } from './operator-session.ts';
import { texts } from '../messages/operators.ts';
import { isFailure } from '../s3/failure.ts';
import { Button } from '../ui/button.tsx';
import { CommandLine } from '../ui/command-line.tsx';
import { Field } from '../ui/dialog.tsx';
import { useSaving } from '../ui/form.ts';
import { Mark } from '../ui/mark.tsx';
import { ErrorBox } from '../ui/notices.tsx';

/** Asks for the token of an operator. It is never component state: it is read once, and the field is cleared. */
export function OperatorSignInPage() {
  const field = useRef<HTMLInputElement>(null);
  const { failure, busy, save } = useSaving();
  const { signInTitle, token, tokenMeaning, submit, how, refused, ...words } = texts.value;
  const why = signedOut.value;
  return (
    <main class="sign-in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const input = field.current!;
          const given = input.value.trim();
          input.value = '';
          void save(async () => {
            await signIn(given);
            // Who may see usage alone begins there.
            if (!may('read') && route.peek().page === 'customers') go({ page: 'usage' }, { replace: true });
          });
        }}
      >
        <header>
          <p class="brand">
            <Mark />
            <span>Stillage</span>
          </p>
          <h1>{signInTitle}</h1>
        </header>
        {failure === undefined && why !== undefined && why !== 'asked' && (
          <p class="note-box" role="status">
            {words[why]}
          </p>
        )}
        {failure !== undefined && <ErrorBox error={isFailure(failure, tokenRefused) ? new Error(refused) : failure} />}
        <Field label={token} hint={tokenMeaning}>
          {(ids) => (
            <input
              {...ids}
              ref={field}
              type="password"
              autocomplete="off"
              autocapitalize="off"
              spellcheck={false}
              required
              autofocus
            />
          )}
        </Field>
        <Button type="submit" kind="primary" disabled={busy}>
          {submit}
        </Button>
        <CommandLine command="stillage operator create NAME --scope read --lifetime 12h" label={how} />
      </form>
    </main>
  );
}
