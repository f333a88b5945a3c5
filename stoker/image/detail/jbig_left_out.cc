// libjbig.so.0 for packages: refuses JBIG, a compression of fax machines. Debian's libtiff names
// libjbig, whose licence is the GPL; a package that carries it could not be under the Apache
// licence. These are the functions that libtiff names; a TIFF file with JBIG is then one that
// cannot be decoded.
namespace {

constexpr long kRefused = 1;  // any number but 0, JBG_EOK

}  // namespace

extern "C" {

long jbg_dec_init() { return 0; }
long jbg_dec_in() { return kRefused; }
long jbg_dec_getsize() { return 0; }
const void* jbg_dec_getimage() { return nullptr; }
long jbg_dec_free() { return 0; }
long jbg_enc_init() { return 0; }
long jbg_enc_out() { return 0; }
long jbg_enc_free() { return 0; }
long jbg_newlen() { return kRefused; }
const char* jbg_strerror() { return "this package has no JBIG"; }

}  // extern "C"
