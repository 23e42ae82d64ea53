import { useRef, useState } from 'preact/hooks';
import { rcFile } from '../../format/commands.ts';
import { t } from '../../messages/messages.ts';
import { getAccount } from '../../s3/account.ts';
import { isFailure } from '../../s3/failure.ts';
import { hasWebCrypto } from '../../s3/secret-key.ts';
import { config, session, signedOut, signIn } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { saveText } from '../../ui/save-text.ts';
import { Mark } from '../../ui/mark.tsx';
import { useSaving } from '../../ui/form.ts';
import { ErrorBox } from '../../ui/notices.tsx';
import { Field } from '../../ui/dialog.tsx';

/**
 * Asks for an access key and its secret. The secret is never component state: its text is read once and turned into a key, and the field is
 * cleared.
 */
export function SignInPage() {
  const secret = useRef<HTMLInputElement>(null);
  const [accessKeyId, setAccessKeyId] = useState('');
  const [keep, setKeep] = useState(false);
  const [wantsFile, setWantsFile] = useState(false);
  const { failure, busy, save } = useSaving();
  const texts = t.value.signIn;
  const { endpoint, region } = config.value!;
  const isSecure = hasWebCrypto();

  const submit = async (): Promise<void> => {
    const field = secret.current!;
    await signIn(accessKeyId.trim(), field.value, keep);
    if (wantsFile) {
      const account = await getAccount(session.value!.client).catch(() => undefined);
      const project = account?.project.id ?? '';
      saveText(
        'stillage.rc',
        rcFile({ endpoint, region, project, accessKeyId: accessKeyId.trim(), secret: field.value }),
      );
    }
    field.value = '';
  };

  const isRefused = isFailure(failure, 'InvalidAccessKeyId', 'SignatureDoesNotMatch');
  return (
    <main class="sign-in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save(submit);
        }}
      >
        <header>
          <p class="brand">
            <Mark />
            <span>Stillage</span>
          </p>
          <h1>{texts.title}</h1>
          <p class="muted">{texts.endpoint(endpoint)}</p>
        </header>
        {failure === undefined && signedOut.value !== undefined && signedOut.value !== 'asked' && (
          <p class="note-box" role="status">
            {texts[signedOut.value]}
          </p>
        )}
        {failure !== undefined && <ErrorBox error={isRefused ? new Error(texts.refused) : failure} />}
        <Field label={texts.accessKey}>
          {(ids) => (
            <input
              {...ids}
              name="access-key"
              autocomplete="username"
              autocapitalize="off"
              spellcheck={false}
              required
              autofocus
              value={accessKeyId}
              onInput={(event) => setAccessKeyId(event.currentTarget.value)}
            />
          )}
        </Field>
        <Field label={texts.secret}>
          {(ids) => <input {...ids} ref={secret} type="password" autocomplete="current-password" required />}
        </Field>
        {isSecure ? (
          <div class="stack tight">
            <label class="check">
              <input type="checkbox" checked={keep} onChange={(event) => setKeep(event.currentTarget.checked)} />
              <span>{texts.keep}</span>
            </label>
            <p class="hint">{keep ? texts.keepMeaning : texts.tabMeaning}</p>
          </div>
        ) : (
          <p class="note-box">{texts.insecure}</p>
        )}
        <div class="stack tight">
          <label class="check">
            <input
              type="checkbox"
              checked={wantsFile}
              onChange={(event) => setWantsFile(event.currentTarget.checked)}
            />
            <span>{texts.rcFile}</span>
          </label>
          {wantsFile && <p class="hint">{texts.rcMeaning}</p>}
        </div>
        <Button type="submit" kind="primary" disabled={busy}>
          {texts.submit}
        </Button>
      </form>
    </main>
  );
}
