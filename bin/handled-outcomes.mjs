// `node bin/handled-outcomes.mjs`: finds writes whose outcome nobody looks at. The answer may have been lost, and the write not have happened.
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import typescript from 'typescript';
import { isSource } from './roots.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const advice =
  'The outcome of this write is ignored, and may be unknown. Handle it, or use settled() or bestEffort() of shared/storage/table/settled.ts.';

/** Returns the expressions in a file of a program whose value has the outcome of a write, and is dropped. */
export function ignoredOutcomes(program, file) {
  const checker = program.getTypeChecker();
  const found = [];
  const check = (node) => {
    if (holdsOutcome(checker, checker.getTypeAtLocation(node))) found.push(node);
  };
  /** A caller that is promised anything, or nothing, does not look at what it gets. */
  const checkReturned = (node) => {
    const expected = checker.getContextualType(node);
    if (expected && isAnything(checker, expected)) check(node);
  };
  const visit = (node) => {
    if (typescript.isExpressionStatement(node) || typescript.isVoidExpression(node)) check(node.expression);
    if (typescript.isReturnStatement(node) && node.expression) checkReturned(node.expression);
    if (typescript.isArrowFunction(node) && !typescript.isBlock(node.body)) checkReturned(node.body);
    typescript.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Returns whether a type is a WriteOutcome (shared/ports/key-value-table.ts) or its `outcome`, or a promise or an array of such. */
function holdsOutcome(checker, type) {
  const value = checker.getNonNullableType(checker.getAwaitedType(type) ?? type);
  if (checker.isArrayType(value) || checker.isTupleType(value)) {
    return checker.getTypeArguments(value).some((one) => holdsOutcome(checker, one));
  }
  const outcome = checker.getPropertyOfType(value, 'outcome');
  return isOutcome(outcome === undefined ? value : checker.getTypeOfSymbol(outcome));
}

function isOutcome(type) {
  const values = type.isUnion() ? type.types.map(({ value }) => value) : [];
  return values.includes('written') && values.includes('unknown');
}

/** Returns whether a type, or what it promises, is `unknown`, `any`, `void` or `undefined`. */
function isAnything(checker, type) {
  const { Any, Unknown, Void, Undefined } = typescript.TypeFlags;
  const parts = type.isUnion() ? type.types : [type];
  return parts.every((one) => ((checker.getAwaitedType(one) ?? one).flags & (Any | Unknown | Void | Undefined)) !== 0);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { config } = typescript.readConfigFile(`${root}tsconfig.json`, typescript.sys.readFile);
  const { fileNames, options } = typescript.parseJsonConfigFileContent(config, typescript.sys, root);
  const names = fileNames.filter((name) => isSource(relative(root, name)));
  const program = typescript.createProgram(names, options);
  for (const file of names.map((name) => program.getSourceFile(name))) {
    for (const node of ignoredOutcomes(program, file)) {
      const { line, character } = file.getLineAndCharacterOfPosition(node.getStart(file));
      console.error(`${relative(root, file.fileName)}:${line + 1}:${character + 1} ${advice}`);
      process.exitCode = 1;
    }
  }
}
