// libstoker_curl.so: Debian's own libcurl (its static library) without what Stoker never uses.
// Debian's shared libcurl needs 23 more libraries, for LDAP, RTMP, SSH, Kerberos, cookies, Brotli
// and domain names that are not ASCII: 4 MB of a package. Stoker allows HTTP and HTTPS alone
// (http_transfer.cc), without cookies, and asks for no compression. So nothing of this is called
// but libssh2_init and functions that tell a version.
//
// Here are the functions of those libraries which libcurl.a names. A newer libcurl may name others:
// then the linker says which.
namespace {

constexpr long kNothing = 0;             // done, no handle, no version
constexpr long kGssFailure = 13L << 16;  // GSS_S_FAILURE: a proxy that asks for Kerberos
constexpr long kIdnFailure = -304;       // IDN2_DISALLOWED: a host name that is not ASCII

}  // namespace

// clang-format off
#define STOKER_LEFT_OUT(X) \
  X(BrotliDecoderCreateInstance) X(BrotliDecoderDecompressStream) \
  X(BrotliDecoderDestroyInstance) X(BrotliDecoderGetErrorCode) X(BrotliDecoderVersion) \
  X(RTMP_Alloc) X(RTMP_Close) X(RTMP_Connect1) X(RTMP_ConnectStream) X(RTMP_Free) \
  X(RTMP_Init) X(RTMP_Read) X(RTMP_SetBufferMS) X(RTMP_SetupURL) X(RTMP_Write) \
  X(ZSTD_createDStream) X(ZSTD_decompressStream) X(ZSTD_freeDStream) X(ZSTD_isError) \
  X(ZSTD_versionNumber) X(ber_bvfree) X(ber_free) X(ber_memfree) X(ber_memvfree) \
  X(ber_sockbuf_add_io) X(idn2_check_version) X(idn2_free) X(ldap_abandon_ext) \
  X(ldap_err2string) X(ldap_free_urldesc) X(ldap_get_attribute_ber) X(ldap_get_dn_ber) \
  X(ldap_get_option) X(ldap_init_fd) X(ldap_memfree) X(ldap_msgfree) X(ldap_msgtype) \
  X(ldap_parse_result) X(ldap_parse_sasl_bind_result) X(ldap_pvt_url_scheme2proto) \
  X(ldap_result) X(ldap_sasl_bind) X(ldap_search_ext) X(ldap_set_option) \
  X(ldap_start_tls) X(ldap_unbind_ext) X(ldap_url_parse) X(libssh2_agent_connect) \
  X(libssh2_agent_disconnect) X(libssh2_agent_free) X(libssh2_agent_get_identity) \
  X(libssh2_agent_init) X(libssh2_agent_list_identities) X(libssh2_agent_userauth) \
  X(libssh2_channel_free) X(libssh2_channel_read_ex) X(libssh2_channel_send_eof) \
  X(libssh2_channel_wait_closed) X(libssh2_channel_wait_eof) \
  X(libssh2_channel_write_ex) X(libssh2_exit) X(libssh2_hostkey_hash) X(libssh2_init) \
  X(libssh2_knownhost_add) X(libssh2_knownhost_checkp) X(libssh2_knownhost_del) \
  X(libssh2_knownhost_free) X(libssh2_knownhost_get) X(libssh2_knownhost_init) \
  X(libssh2_knownhost_readfile) X(libssh2_knownhost_writefile) X(libssh2_scp_recv2) \
  X(libssh2_scp_send64) X(libssh2_session_abstract) \
  X(libssh2_session_block_directions) X(libssh2_session_callback_set) \
  X(libssh2_session_disconnect_ex) X(libssh2_session_flag) X(libssh2_session_free) \
  X(libssh2_session_handshake) X(libssh2_session_hostkey) X(libssh2_session_init_ex) \
  X(libssh2_session_last_errno) X(libssh2_session_last_error) \
  X(libssh2_session_method_pref) X(libssh2_session_set_blocking) \
  X(libssh2_sftp_close_handle) X(libssh2_sftp_init) X(libssh2_sftp_last_error) \
  X(libssh2_sftp_mkdir_ex) X(libssh2_sftp_open_ex) X(libssh2_sftp_read) \
  X(libssh2_sftp_readdir_ex) X(libssh2_sftp_rename_ex) X(libssh2_sftp_rmdir_ex) \
  X(libssh2_sftp_seek64) X(libssh2_sftp_shutdown) X(libssh2_sftp_stat_ex) \
  X(libssh2_sftp_statvfs) X(libssh2_sftp_symlink_ex) X(libssh2_sftp_unlink_ex) \
  X(libssh2_sftp_write) X(libssh2_userauth_authenticated) \
  X(libssh2_userauth_keyboard_interactive_ex) X(libssh2_userauth_list) \
  X(libssh2_userauth_password_ex) X(libssh2_userauth_publickey_fromfile_ex) \
  X(libssh2_version) X(psl_builtin) X(psl_free) X(psl_get_version) \
  X(psl_is_cookie_domain_acceptable) X(psl_latest)

#define STOKER_LEFT_OUT_GSS(X) \
  X(gss_delete_sec_context) X(gss_display_name) X(gss_display_status) \
  X(gss_import_name) X(gss_init_sec_context) X(gss_inquire_context) \
  X(gss_release_buffer) X(gss_release_name) X(gss_unwrap) X(gss_wrap)
// clang-format on

#define STOKER_DEFINE(name) \
  extern "C" long name() { return kNothing; }
#define STOKER_DEFINE_GSS(name) \
  extern "C" long name() { return kGssFailure; }

STOKER_LEFT_OUT(STOKER_DEFINE)
STOKER_LEFT_OUT_GSS(STOKER_DEFINE_GSS)
extern "C" long idn2_lookup_ul() { return kIdnFailure; }
extern "C" const void* const GSS_C_NT_HOSTBASED_SERVICE;
extern "C" const void* const GSS_C_NT_HOSTBASED_SERVICE = nullptr;
