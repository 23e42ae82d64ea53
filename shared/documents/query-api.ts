import { document, escapeXml, tag } from './text.ts';
import type { Written } from './schema.ts';

/** Returns the response to an action of an API in AWS's Query protocol. @param result without it, the action returns nothing */
export function actionResponse<Value>(
  action: string,
  result: { readonly content: Written<Value>; readonly value: Value } | undefined,
  { requestId, xmlNamespace }: { readonly requestId: string; readonly xmlNamespace: string },
): string {
  const metadata = tag('ResponseMetadata', tag('RequestId', escapeXml(requestId)));
  const inner = result === undefined ? '' : tag(`${action}Result`, result.content.write(result.value));
  return document(`${action}Response`, xmlNamespace, inner + metadata);
}

/** Returns an error of such an API: https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html */
export function actionError(
  { code, message, isOfClient }: { readonly code: string; readonly message: string; readonly isOfClient: boolean },
  { requestId, xmlNamespace }: { readonly requestId: string; readonly xmlNamespace: string },
): string {
  const error =
    tag('Type', isOfClient ? 'Sender' : 'Receiver') + tag('Code', escapeXml(code)) + tag('Message', escapeXml(message));
  return document('ErrorResponse', xmlNamespace, tag('Error', error) + tag('RequestId', escapeXml(requestId)));
}
