// Verifies a webhook with billcore's C library: node verify.mjs SIGNATURE < BODY, with WEBHOOK_SECRET set.
import { readFileSync } from 'node:fs'
import koffi from 'koffi'

const library = koffi.load('libbillcore-webhook.so.0')
const Str = koffi.struct('billcore_str', { data: 'const uint8_t *', len: 'size_t' })
const unwrap = library.func(
  'int32_t billcore_webhook_unwrap(billcore_str body, billcore_str signature, billcore_str secret, _Out_ void **event, _Out_ void **err)')
const resourceText = library.func(
  'int32_t billcore_resource_text(void *event, billcore_str name, _Out_ billcore_str *text, void *present, _Out_ void **err)')
const errorMessage = library.func('billcore_str billcore_error_message(void *err)')
const freeEvent = library.func('void billcore_event_free(void *event)')
const freeError = library.func('void billcore_error_free(void *err)')

// The bytes of a text; undefined, for a header that the request does not have, is {NULL, 0}.
function str(text) {
  const data = text === undefined ? null : Buffer.from(text)
  return { data, len: data?.length ?? 0 }
}
const read = ({ data, len }) => Buffer.from(koffi.decode(data, 'uint8_t', Number(len))).toString()

const body = readFileSync(0) // the raw bytes: JSON that is parsed and written again has another signature
const event = [null], error = [null], name = [null]
try {
  let status = unwrap(str(body), str(process.argv[2]), str(process.env.WEBHOOK_SECRET), event, error)
  if (status === 0) status = resourceText(event[0], str('name'), name, null, error)
  if (status === 0) console.log(read(name[0]))
  else console.error(read(errorMessage(error[0])))
  process.exitCode = status === 0 ? 0 : 1
} finally {
  freeEvent(event[0])
  freeError(error[0])
}
